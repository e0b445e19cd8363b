// A place in the source of a tile program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilescope {

/// The place in a tile program that calls an operation, as a default argument. (clang 14 has no
/// std::source_location.)
struct Here {
    std::uint32_t line;
    const char* file;
    static constexpr Here now(std::uint32_t l = __builtin_LINE(), const char* f = __builtin_FILE()) { return {l, f}; }
};

/// The path of a source file of TileScope among the sources, the same on every machine: compilers replace the folder by
/// this root (cmake/options.cmake). nullptr for any other file.
constexpr const char* among_sources(const char* file) {
    constexpr std::string_view root = "TileScope:";
    return std::string_view(file).starts_with(root) ? file + root.size() : nullptr;
}

/// "source line 23 of mine.cpp".
std::string source_of(Here here);

}  // namespace tilescope
