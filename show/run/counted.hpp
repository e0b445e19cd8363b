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

/// How much of a run is recorded, so that it can be shown within a blink.
struct RecordingLimits {
    Count matmul_flops = 300'000'000;      ///< computed with numbers (one head alone: twice that); beyond, shapes only
    Bytes value_bytes = Bytes{128} << 20;  ///< contents of tiles; beyond, shapes only
    Index events = 100'000;
};

struct Counted {
    lab::Report report;
    std::map<std::uint16_t, LineProfile> lines;  ///< by line
    std::vector<LaunchNest> nest;                ///< its loops, by launch
    Count events = 0;                            ///< as many as a recording of all its thread blocks would have
    std::shared_ptr<const Gantt> gantt = std::make_shared<Gantt>();  ///< empty where there is no time

    const lab::Experiment& experiment() const { return report.experiment; }
};

/// One folded run. Throws OutOfChipMemory, Interrupted.
Counted count_for_show(const lab::Experiment& experiment, Control* control = nullptr);

/// At most `heads` heads and at least one, in whole groups: of batch entries that share a bias, else of whole batch
/// entries, else of heads that share K and V. Fewer heads than share one K and V stay as many.
Index whole_groups(const Problem& problem, Index heads);
/// Upper bound of the bytes of tile contents in a recording of so many heads with numbers: every write of a tile is
/// recorded in f32, and the tile's own type may be half as wide.
Bytes value_bytes(const Counted& counted, Index heads);
/// How many heads the limits allow with numbers; 0: not even one.
Index heads_with_numbers(const Counted& counted, const RecordingLimits& limits);
/// How many heads, from the first on, a recording of the run can hold: at least 1, at most all.
Index heads_to_record(const Counted& counted, const RecordingLimits& limits = {});

}  // namespace tilescope::show
