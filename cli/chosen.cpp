#include <iostream>

#include "cli/commands.hpp"

namespace tilescope::cli {
using namespace lab;

const Algorithm& chosen_algorithm(const std::string& name) {
    const Algorithm& algorithm = algorithm_named(name);
    if (const std::string remark = renaming(name); !remark.empty()) std::cerr << "tilescope: " << remark << '\n';
    return algorithm;
}

std::string see_it(const Algorithm& algorithm, const Options& options, const Place& place) {
    return "\n  see it: " + step_command(algorithm.name, options, place);
}

}  // namespace tilescope::cli
