#ifndef __EMSCRIPTEN__  // a page loads nothing
#include "lab/own/self.hpp"

#include <dlfcn.h>

#include "core/machine/error.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
namespace {

namespace fs = std::filesystem;

bool has_header(const fs::path& folder) {
    std::error_code none;
    return fs::exists(folder / "tilescope/algorithm.hpp", none);
}

}  // namespace

fs::path own_binary() {
    Dl_info info{};
    std::error_code none;
    // Of a program that is only the word that started it.
    if (dladdr(reinterpret_cast<const void*>(&own_binary), &info) != 0 && info.dli_fname &&
        std::string_view(info.dli_fname).find(".so") != std::string_view::npos)
        return fs::weakly_canonical(info.dli_fname, none);
    return fs::read_symlink("/proc/self/exe", none);
}

std::vector<fs::path> include_folders() {
    const fs::path here = own_binary().parent_path();
    for (const fs::path& folder : {here.parent_path() / "include", here / "include"})
        if (has_header(folder)) return {folder, folder / "tilescope"};
    const fs::path sources = TILESCOPE_SOURCES;
    if (has_header(sources / "include")) return {sources / "include", sources};
    throw UsageError(text::shown(here.string()) +
                     ": there are no headers of TileScope beside the program; install it by cmake --install");
}

}  // namespace tilescope::lab
#endif
