// How many random cases a test takes.
#pragma once

#include <cstdint>

namespace tilescope {

/// An eighth of them under a sanitizer, which looks at what is done, not at what comes out.
constexpr std::uint64_t seeds(std::uint64_t n) {
#if defined(TILESCOPE_SANITIZED)
    return n / 8;
#else
    return n;
#endif
}

}  // namespace tilescope
