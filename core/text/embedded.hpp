// Files that travel inside the binary, or in the page's data, so that nothing has to be installed beside it. Generated
// by cmake/embed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace tilescope {

struct EmbeddedFile {
    std::string_view name;  ///< file name without its folder, e.g. "T4.json"; of a tile program its path
    std::string_view text;
};

}  // namespace tilescope
