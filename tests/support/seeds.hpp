// How many random cases a test runs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilescope {

#if defined(TILESCOPE_SANITIZED)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// Of `n` random cases an eighth under a sanitizer, which looks for invalid operations and not for wrong results.
constexpr std::uint64_t seeds(std::uint64_t n) { return sanitized ? n / 8 : n; }

/// Whether to test the pair of members `one` and `other`. Under a sanitizer a third of all pairs is tested, and each
/// member is in a tested pair.
constexpr bool takes(std::size_t one, std::size_t other) { return !sanitized || (one + other) % 3 == 0; }

}  // namespace tilescope
