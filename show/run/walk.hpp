// One walk over a recording, which serves all readers of the recording.
#pragma once

#include <initializer_list>

#include "core/time/schedule.hpp"

namespace tilescope::show {

/// A step of a recording, and its place there.
struct Reading {
    const Step& step;
    Index number;           ///< of the step: an index into the trace
    Index tick;             ///< the tick that carries out the step
    std::size_t placement;  ///< of its thread block: an index into Schedule::placements()
};

class StepReader {
  public:
    virtual ~StepReader() = default;
    /// A launch begins, or a thread block begins or ends. A launch has no placement.
    virtual void mark(const Reading&) {}
    /// With this step a thread block begins, or goes on to another turn: to another iteration of a loop, or to the work
    /// outside of loops.
    virtual void turn(const Reading&) {}
    /// An operation, or a tile that is made or given back.
    virtual void step(const Reading&) = 0;
};

/// Reads the recording once, in the order of its ticks, for all these readers.
void read_steps(const Schedule& schedule, std::initializer_list<StepReader*> readers);

}  // namespace tilescope::show
