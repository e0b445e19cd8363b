#include "lab/flags/build_info.hpp"

#include "core/text/message.hpp"
#include "core/text/version.hpp"

namespace tilescope::lab {
using text::message;

std::string version_line(const std::string& program) {
    const BuildInfo b = build_info();
    return message("build_info.version", program, text::version(),
                   b.commit.empty() ? message("build_info.unknown_commit") : message("build_info.commit", b.commit),
                   b.compiler, b.cuda.empty() ? message("build_info.no_cuda") : message("build_info.cuda", b.cuda));
}

}  // namespace tilescope::lab
