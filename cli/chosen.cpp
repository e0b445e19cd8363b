#include <iostream>

#include "cli/commands.hpp"

namespace tilescope::cli {

const Algorithm& chosen_algorithm(const std::string& name) {
    const Algorithm& algorithm = algorithm_named(name);
    if (const std::string remark = renaming(name); !remark.empty()) std::cerr << "tilescope: " << remark << '\n';
    return algorithm;
}

}  // namespace tilescope::cli
