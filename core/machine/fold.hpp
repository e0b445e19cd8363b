// Folding: which members of a range are run for all of them, and with which weight.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/machine/grid.hpp"

namespace tilescope {

/// The parts into which the inner tiles that axis k sees are cut; nullptr where they are not cut.
inline const Tiles* parts_of(std::span<const Axis> axes, std::size_t k) {
    return k + 1 < axes.size() && axes[k + 1].promise == Promise::parts ? &axes[k + 1].tiles : nullptr;
}
/// The inner tiles that a block of the grid sees; nullopt where no axis is graded.
inline std::optional<Tiles> seen_at(std::span<const Axis> axes, const Span* at) {
    for (std::size_t k = 0; k < axes.size(); ++k)
        if (axes[k].promise == Promise::graded) {
            const Tiles seen = (*axes[k].seen)(at[k]);
            return parts_of(axes, k) ? seen.within(at[k + 1]) : seen;
        }
    return std::nullopt;
}

/// A member that runs for `members` of its range. In a graded range these see `full` and `ragged` inner tiles together.
struct Representative {
    Index position;
    Count members = 1, full = 0, ragged = 0;
    Index first = position;  ///< the first of these members
};

/// For Promise::none all tiles; for uniform a full tile and the ragged one; for graded the full tile that sees most,
/// for all that see something, one that sees nothing, and the ragged one. `out` keeps its memory between calls.
void representatives(const Axis& range, std::vector<Representative>& out);
/// The same for axis k of a grid. The members of a graded axis with parts are the pairs (tile, part), tile by tile; the
/// axis of parts itself has one representative.
void representatives(std::span<const Axis> axes, std::size_t k, std::vector<Representative>& out);

}  // namespace tilescope
