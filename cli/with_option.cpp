#include "cli/with_option.hpp"

#include <vector>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::cli {
using text::message;

void add_with_option(CLI::App& app, std::string& with) {
    app.add_option("--with", with, message("with.forward"))->type_name("forward");
}

bool asks_for_forward(const std::string& with, const Algorithm& algorithm) {
    if (with.empty()) return false;
    if (with != "forward") throw UsageError(message("with.must_be", text::shown(with)));
    if (algorithm.lineage.forward) return true;
    std::vector<std::string> names;
    for (const Algorithm& a : algorithms())
        if (a.lineage.forward) names.push_back(a.name);
    throw UsageError(message("with.no_backward_pass", algorithm.name, text::join(names, ", ")));
}

}  // namespace tilescope::cli
