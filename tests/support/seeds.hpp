// How many random cases a test takes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilescope {

#if defined(TILESCOPE_SANITIZED)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// An eighth of them under a sanitizer, which looks at what is done, not at what comes out.
constexpr std::uint64_t seeds(std::uint64_t n) { return sanitized ? n / 8 : n; }

/// Of each pair: under a sanitizer a third of them, each of either in some.
constexpr bool takes(std::size_t one, std::size_t other) { return !sanitized || (one + other) % 3 == 0; }

}  // namespace tilescope
