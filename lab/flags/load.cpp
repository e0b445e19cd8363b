#include "lab/flags/load.hpp"

#include <CLI/CLI.hpp>
#include <vector>

#include "core/text/message.hpp"
#include "lab/own/own.hpp"

namespace tilescope::lab {

void add_load_option(CLI::App& app) {
    app.add_option_function<std::vector<std::string>>(
           "--load",
           [](const std::vector<std::string>& files) {
               for (const std::string& file : files) load(file);
           },
           text::message("option.load"))
        ->type_name("FILE.cpp|so|py")
        ->allow_extra_args(false);
}

}  // namespace tilescope::lab
