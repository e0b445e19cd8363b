// What a kernel with lanes waits for, from the law of its tile.
#pragma once

#include <string>

#include "lab/run/run_time.hpp"

namespace tilescope::lab {

/// What holds up a step, most of all.
enum class LanedLimit : std::uint8_t {
    both,    ///< tensor cores and CUDA cores are at work nearly all the time
    cuda,    ///< CUDA cores are, with exponentials most of all
    tensor,  ///< tensor cores are
    ring,    ///< a warpgroup waits long for a tile that is still on its way
    waits,   ///< nothing is at work nearly all the time: lanes wait for each other
};
LanedLimit laned_limit(const TileLaw& law);
/// The unit that the limit is counted as, of two full ones the busier; Bound::dependency where it is none.
Bound laned_bound(const TileLaw& law);
/// "A step: tensor cores 82%, CUDA cores 98%: both are full, ...".
std::string verdict_of(const TileLaw& law);

}  // namespace tilescope::lab
