// `tilescope timeline ALGO... --lanes`: what the lanes of a thread block do, cycle by cycle.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/json.hpp"
#include "core/machine/units.hpp"
#include "lab/flags/options.hpp"
#include "show/stage/lanes.hpp"

namespace tilescope::cli {

struct LanesRequest {
    bool asked = false;
    Index steps = 1;                            ///< that are drawn
    std::optional<Index> cycle = std::nullopt;  ///< that the sentences are about
};

/// The most steps that are drawn.
inline constexpr Index most_lane_steps = 8;

Json segment_json(const show::LaneView& view, std::uint32_t number);
/// With its state at the cycle, and without the tiles that lie in it.
Json slot_json(const show::LaneView& view, const show::LaneSlot& slot, double cycle);
Json turn_json(const show::LaneView& view, const show::LaneView::Baton& baton, const show::LaneView::Turn& turn);

/// Prints all variants on one axis of cycles.
void show_lanes(const lab::Options& options, const std::vector<std::string>& variants, const LanesRequest& request);

}  // namespace tilescope::cli
