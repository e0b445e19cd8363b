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

/// An eighth of the cases under a sanitizer, which checks what is done, not the results.
constexpr std::uint64_t seeds(std::uint64_t n) { return sanitized ? n / 8 : n; }

/// Whether to test a pair: under a sanitizer a third of all pairs, in which each member occurs.
constexpr bool takes(std::size_t one, std::size_t other) { return !sanitized || (one + other) % 3 == 0; }

}  // namespace tilescope
