// Lanes over time in letters, for a terminal.
#pragma once

#include <optional>
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
///     WG1 CUDA cores     ----------+mmmrreeeeeexxx----------
///     turn               11111112222222222222222222222111111
///     slot 0 of KV       .......KKKKKK##########
///     here                     ^
///
/// A lane that waits shows what for: "-" its product, "." its turn, "~" data, ":" a free slot; "+" is
/// LaneDoing::busy. A slot is blank where it is empty, "." while its tile is loaded, has the tile's first letter where
/// it is full, and "#" while a product reads. The last line points at `cycle`, where that is shown.
std::string lane_chart(const LaneView& view, int width, std::optional<double> cycle = std::nullopt);
/// What the letters of charts stand for: "S = Q K^T, O = P V: O + P V, ..." and what waits look like.
std::string lane_legend(std::span<const LaneView> views);

}  // namespace tilescope::show
