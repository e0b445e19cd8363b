// Where in a tile program something is said.
#pragma once

#include <cstdint>
#include <string>

namespace tilescope {

/// The place in a tile program that calls an operation, as a default argument. (clang 14 has no
/// std::source_location.)
struct Here {
    std::uint32_t line;
    const char* file;
    static constexpr Here now(std::uint32_t l = __builtin_LINE(), const char* f = __builtin_FILE()) { return {l, f}; }
};

/// "source line 23 of mine.cpp".
inline std::string source_of(Here here) { return "source line " + std::to_string(here.line) + " of " + here.file; }

}  // namespace tilescope
