// Folding: which members of a range are run for all of them, and with which weight.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/machine/grid.hpp"

namespace tilescope {

/// The parts of what tiles of axis k see; nullptr where these are not cut.
inline const Tiles* parts_of(std::span<const Axis> axes, std::size_t k) {
    return k + 1 < axes.size() && axes[k + 1].promise == Promise::parts ? &axes[k + 1].tiles : nullptr;
}
/// The inner tiles that a block of the grid sees, where an axis is graded.
inline std::optional<Tiles> seen_at(std::span<const Axis> axes, const Span* at) {
    for (std::size_t k = 0; k < axes.size(); ++k)
        if (axes[k].promise == Promise::graded) {
            const Tiles seen = (*axes[k].seen)(at[k]);
            return parts_of(axes, k) ? seen.within(at[k + 1]) : seen;
        }
    return std::nullopt;
}

/// A member that is run for `members` of its range, and how many inner tiles all of these see (graded ranges).
struct Representative {
    Index position;
    Count members = 1, full = 0, ragged = 0;
    Index first = position;  ///< of these members
};

/// All tiles of a range that promises nothing; a full and a ragged one of a uniform one; of a graded one, for those
/// that see something and those that do not, the one that sees most. Keeps its memory between calls.
void representatives(const Axis& range, std::vector<Representative>& out);
/// The same for axis k of a grid. Members of a graded axis with parts are its tiles with each part, the first tile's
/// first; the axis of parts itself has one to stand for all.
void representatives(std::span<const Axis> axes, std::size_t k, std::vector<Representative>& out);

}  // namespace tilescope
