#ifndef __EMSCRIPTEN__  // the web page loads no files
#include "lab/own/self.hpp"

#include <dlfcn.h>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
namespace {

namespace fs = std::filesystem;

/// Whether these folders have the one header for authors, and the other headers that it includes.
bool lead_to_headers(const std::vector<fs::path>& folders) {
    std::error_code none;
    return fs::exists(folders[0] / "tilescope/algorithm.hpp", none) &&
           fs::exists(folders[1] / "algorithms/contract/algorithm.hpp", none);
}

}  // namespace

fs::path own_binary() {
    Dl_info info{};
    std::error_code none;
    // For a program, dli_fname is only the word that started it.
    if (dladdr(reinterpret_cast<const void*>(&own_binary), &info) != 0 && info.dli_fname &&
        std::string_view(info.dli_fname).find(".so") != std::string_view::npos)
        return fs::weakly_canonical(info.dli_fname, none);
    return fs::read_symlink("/proc/self/exe", none);
}

std::vector<fs::path> include_folders() {
    const fs::path here = own_binary().parent_path(), sources = TILESCOPE_SOURCES;
    const fs::path installed = here.parent_path() / "include", in_wheel = here / "include";
    // A build folder within the sources has an include/ beside it, too, but that lacks the other headers.
    for (const std::vector<fs::path>& folders :
         {std::vector{installed, installed / "tilescope"}, std::vector{in_wheel, in_wheel / "tilescope"},
          std::vector{sources / "include", sources}})
        if (lead_to_headers(folders)) return folders;
    throw UsageError(text::message("own.no_headers", text::shown(here.string())));
}

std::vector<fs::path> python_parts() {
    const fs::path here = own_binary().parent_path(), name = "tilescope-python.so";
    return {here / name, here.parent_path() / "lib" / "tilescope" / name};
}

}  // namespace tilescope::lab
#endif
