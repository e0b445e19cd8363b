#ifndef __EMSCRIPTEN__  // the web page loads no files
#include <dlfcn.h>

#include <filesystem>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/own/kinds.hpp"
#include "lab/own/self.hpp"

namespace tilescope::lab {
using text::message;

// tilescope-python.so beside the program, or in lib/tilescope/, has an interpreter. Its
//   extern "C" const char* tilescope_load_python(const char* path, const char* file)
// runs the file. The file adds its algorithms, with `file` as their origin. The function returns nullptr, or one line
// about what is wrong that stays readable until the next call.
std::vector<const Algorithm*> load_python(const std::string& path, const char* file) {
    using Load = const char* (*)(const char*, const char*);
    static const Load load = [] {
        for (const auto& candidate : python_parts())
            if (void* part = dlopen(candidate.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE))
                return reinterpret_cast<Load>(dlsym(part, "tilescope_load_python"));
        return Load{};
    }();
    if (!load) throw UsageError(message("own.no_python", text::shown(file)));
    const std::size_t before = algorithms().size();
    if (const char* wrong = load(path.c_str(), file)) throw UsageError(message("own.wrong", text::shown(file), wrong));
    std::vector<const Algorithm*> all;
    for (std::size_t k = before; k < algorithms().size(); ++k) all.push_back(&algorithms()[k]);
    if (all.empty()) throw UsageError(message("own.adds_none", text::shown(file)));
    return all;
}

}  // namespace tilescope::lab
#endif
