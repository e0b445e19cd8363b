// The lane that issues an operation, where the warps of a thread block have roles.
#pragma once

#include "core/machine/units.hpp"

namespace tilescope {

inline constexpr Index warps_of_warpgroup = 4;  // that issue a product together

struct LaneSpec {
    Index warps = 4;
    Index registers_per_thread = 0;  ///< at most 255, charged at once (setmaxnreg); 0: it takes what its tiles take
    bool turns = false;              ///< warpgroups of all lanes with `turns` use the tensor cores in turn
};

struct LaneInfo {
    const char* name;  ///< a string literal
    LaneSpec spec;
};

}  // namespace tilescope
