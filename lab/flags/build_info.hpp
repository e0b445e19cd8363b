// Which sources this TileScope was built from, and with what.
#pragma once

#include <string>

namespace tilescope::lab {

/// A member is empty where its value is unknown. `cuda` is empty in a build without CUDA, too.
struct BuildInfo {
    std::string commit;    ///< of the sources: "1a2b3c4", or "1a2b3c4 with changes" that are in no commit
    std::string compiler;  ///< "g++ 12.2.0"
    std::string cuda;      ///< the toolkit that built the kernels: "12.4"
};
BuildInfo build_info();

/// For --version: "tilescope 0.1.0 (commit 1a2b3c4; g++ 12.2.0; no CUDA)".
std::string version_line(const std::string& program);

}  // namespace tilescope::lab
