#include "show/run/walk.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tilescope::show {

void read_steps(const Schedule& schedule, std::initializer_list<StepReader*> readers) {
    const Trace& trace = schedule.trace();
    std::vector<Index> turns(schedule.placements().size(), -2);  // by placement; -2: block not begun
    std::span<const Placement> blocks;                           // of the launch
    const Placement* at = nullptr;
    Index tick = 1;
    for (Index k = 0; k < trace.size(); ++k) {
        while (schedule.steps_after(tick) <= k) ++tick;
        const Step& step = trace[k];
        if (step.kind() == Kind::launch)
            blocks = schedule.placements_of(step.launch), at = blocks.data();
        else if (at->block != step.event.block)
            at = &*std::partition_point(blocks.begin(), blocks.end(),
                                        [&](const Placement& p) { return p.block < step.event.block; });
        const Reading reading{step, k, tick, static_cast<std::size_t>(at - schedule.placements().data())};
        if (step.kind() <= Kind::block_end) {
            for (StepReader* r : readers) r->mark(reading);
            continue;
        }
        if (std::exchange(turns[reading.placement], step.turn) != step.turn)
            for (StepReader* r : readers) r->turn(reading);
        for (StepReader* r : readers) r->step(reading);
    }
}

}  // namespace tilescope::show
