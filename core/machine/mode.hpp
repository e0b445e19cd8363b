// How a run is carried out, and how it is followed and stopped from outside.
#pragma once

#include <atomic>

#include "core/machine/error.hpp"
#include "core/machine/units.hpp"

namespace tilescope {

/// What a run does besides counting. The same tile program runs in every mode.
struct Mode {
    bool data;                 ///< compute on real numbers
    bool fold;                 ///< run one of each set of promised-equal tiles and blocks, weighted; not with data
    bool only_wanted = false;  ///< skip thread blocks that no listener wants: their costs and stores are missing
};
inline constexpr Mode numeric_mode{true, false};
inline constexpr Mode count_mode{false, true};
inline constexpr Mode exact_mode{false, false};

/// A way to follow a long run, and to stop it, from another thread.
struct Control {
    std::atomic<bool> stop{false};
    std::atomic<Index> blocks_done{0}, blocks_total{0};
};
/// Throws Interrupted once a stop is asked for.
inline void check_stop(const Control* control) {
    if (control && control->stop.load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace tilescope
