#include "lab/flags/build_info.hpp"

#include "core/text/version.hpp"

namespace tilescope::lab {

std::string version_line(const std::string& program) {
    const BuildInfo b = build_info();
    return program + ' ' + text::version() + " (" + (b.commit.empty() ? "unknown commit" : "commit " + b.commit) +
           "; " + b.compiler + "; " + (b.cuda.empty() ? "no CUDA" : "CUDA " + b.cuda) + ')';
}

}  // namespace tilescope::lab
