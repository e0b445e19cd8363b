// The bits of a number as another type. (std::bit_cast is missing in some standard libraries.)
#pragma once

#include <cstring>

namespace tilescope::testing {

template <class To, class From>
To bits_of(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    To to{};
    std::memcpy(&to, &from, sizeof to);
    return to;
}

}  // namespace tilescope::testing
