// Where in a run something went wrong.
#pragma once

#include "core/machine/here.hpp"
#include "core/machine/units.hpp"

namespace tilescope {

struct Place {
    Index launch = -1;       ///< its number, from 0; -1: not known
    Index block = -1;        ///< linear in the launch's grid
    std::uint16_t line = 0;  ///< of the pseudo-code; 0: outside of it

    friend bool operator==(const Place&, const Place&) = default;
};

/// A base of the exceptions that can end a thread block. The Gpu fills it in before it passes an exception on.
struct Placed {
    Place place;
    Here here = {0, ""};  ///< the operation that was carried out; line 0: not known
};

}  // namespace tilescope
