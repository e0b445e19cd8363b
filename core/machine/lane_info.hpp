// Who issues an operation, where the warps of a thread block have roles.
#pragma once

#include "core/machine/units.hpp"

namespace tilescope {

struct LaneSpec {
    Index warps = 4;
    Index registers_per_thread = 0;  ///< of its own, charged at once (setmaxnreg); 0: it takes what its tiles take
    bool turns = false;              ///< its warpgroups, of four warps, hand the tensor cores on to one another
};

struct LaneInfo {
    const char* name;  ///< a string literal
    LaneSpec spec;
};

}  // namespace tilescope
