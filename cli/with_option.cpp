#include "cli/with_option.hpp"

#include <vector>

#include "core/machine/error.hpp"
#include "core/text/words.hpp"

namespace tilescope::cli {

void add_with_option(CLI::App& app, std::string& with) {
    app.add_option("--with", with, "Of backward passes: forward adds the counts and times of the forward pass of each")
        ->type_name("forward");
}

bool asks_for_forward(const std::string& with, const Algorithm& algorithm) {
    if (with.empty()) return false;
    if (with != "forward") throw UsageError("--with " + text::shown(with) + ": must be forward");
    if (algorithm.forward) return true;
    std::vector<std::string> names;
    for (const Algorithm& a : algorithms())
        if (a.forward) names.push_back(a.name);
    throw UsageError(std::string("--with forward: ") + algorithm.name + " is no backward pass; " +
                     text::join(names, ", ") + " are, or leave it out");
}

}  // namespace tilescope::cli
