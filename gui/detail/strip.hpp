// Traffic over time.
#pragma once

#include <optional>

#include "gui/draw/theme.hpp"
#include "show/run/run.hpp"

namespace tilescope::gui::detail {

/// SM traffic, tick by tick: read upwards, written downwards; what is still to come is faint.
struct Strip {
    const Theme& theme;
    const show::Run& run;
    Index ticks;  ///< on the whole horizontal axis
    double most;  ///< bytes per tick at the ends of the vertical axis

    /// The tick at `x` on the screen. `at`, `size`: of the strip.
    Index tick_at(ImVec2 at, ImVec2 size, float x) const;
    void draw(ImVec2 at, ImVec2 size) const;
};

/// Bytes of the busiest tick, read or written, as `columns` pixels show them.
double most_traffic(const show::Run& run, Index ticks, Index columns);

}  // namespace tilescope::gui::detail
