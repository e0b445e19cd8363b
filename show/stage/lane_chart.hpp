// Lanes over time in letters, for a terminal.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "show/stage/lanes.hpp"

namespace tilescope::show {

/// Draws what is shown of a view in lines of at most `width` columns. A column shows what goes on at its middle:
///
///     cycle              0         500       1,000
///     bus                KKKKKKKKKK          VVVVVVVVVV
///     WG1 tensor cores   SSSSSSSSSS               OOOOOOOOOO
///     WG1 CUDA cores     ----------mmmrreeeeeeexxx----------
///     turn               11111112222222222222222222222111111
///     slot 0 of KV       .......KKKKKK##########
///
/// A lane that waits shows what for: "-" its product, "." its turn, "~" data, ":" a free slot. A slot is blank where it
/// is empty, "." while its tile is loaded, has the tile's first letter where it is full, and "#" while a product reads.
std::string lane_chart(const LaneView& view, int width);
/// What the letters of charts stand for: "S = Q K^T, O = P V: O + P V, ..." and what waits look like.
std::string lane_legend(std::span<const LaneView> views);

}  // namespace tilescope::show
