// A whole run, counted: its costs, where they fall, and how long a recording of it would be.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/record/nest.hpp"
#include "core/record/profile.hpp"
#include "lab/run/experiment.hpp"
#include "show/run/gantt.hpp"

namespace tilescope::show {

/// How much of a run is recorded, so that it can be shown within a blink. Beyond the first two limits a recording has
/// shapes only.
struct RecordingLimits {
    Count matmul_flops = 300'000'000;      ///< of a recording with numbers; of one head alone: twice this
    Bytes value_bytes = Bytes{128} << 20;  ///< of tile contents in a recording with numbers
    Index events = 100'000;
};

struct Counted {
    lab::Report report;
    std::map<std::uint16_t, LineProfile> lines;  ///< by line number
    std::vector<LaunchNest> nest;                ///< the loops of the run, by launch
    Count events = 0;                            ///< the number of events in a recording of all thread blocks
    std::shared_ptr<const Gantt> gantt = std::make_shared<Gantt>();  ///< empty where there is no time

    const lab::Experiment& experiment() const { return report.experiment; }
};

/// Counts the run, folded. Throws OutOfChipMemory, Interrupted.
Counted count_for_show(const lab::Experiment& experiment, Control* control = nullptr);

/// Rounds `heads` down to whole groups of batch entries that share a bias; if there are too few heads for a group, to
/// whole batch entries; if too few for an entry, to whole groups of heads that share K and V. Fewer heads than such a
/// group has are not rounded. The result is at least 1, and at most all heads.
Index whole_groups(const Problem& problem, Index heads);
/// Upper bound of the bytes of tile contents in a recording of so many heads with numbers: every write of a tile is
/// recorded in f32, and the tile's own type may be half as wide.
Bytes value_bytes(const Counted& counted, Index heads);
/// How many heads the limits allow with numbers; 0: not even one.
Index heads_with_numbers(const Counted& counted, const RecordingLimits& limits);
/// How many heads, from the first on, a recording of the run can hold: at least 1, at most all.
Index heads_to_record(const Counted& counted, const RecordingLimits& limits = {});

}  // namespace tilescope::show
