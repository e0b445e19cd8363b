// Work that takes longer than a frame: done a unit at a time, by a thread beside the window where there are threads,
// and by the frames themselves where there are none.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <limits>
#include <optional>

#include "core/machine/gpu.hpp"
#include "core/machine/mode.hpp"
#include "core/machine/parallel.hpp"

namespace tilescope::show {

class Job {
  public:
    /// Does the next unit of work and returns how many units are left, as far as is known by then; 0 after the last
    /// one. A unit should fit into a frame. A unit that takes longer passes the Control on to its Gpu, so that cancel()
    /// ends it early.
    using Unit = std::function<Index(Control&)>;
    static constexpr Index all = std::numeric_limits<Index>::max();

    /// Does no work: begin(), pump() and finish() do. All of them are called by one thread, which wants the result.
    explicit Job(Unit unit) : unit_(std::move(unit)) {}
    /// Cancels, and waits for the unit in progress.
    ~Job() { cancel(); }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Gives the work to a thread of its own. Where the system has no thread to give, pump() and finish() do the work.
    void begin();
    /// Call this every frame. Does at most `units` units, unless the job's thread does the work. True once all are
    /// done.
    bool pump(Index units);
    /// Does the work, or waits for the job's own thread, until `units` units or all are done.
    void finish(Index units = all);
    // pump() and finish() throw, at every call, what a unit threw, or Interrupted after cancel(). finish(units) does
    // not throw where `units` units were done before that.

    /// No further unit begins. The unit in progress ends early where it heeds its Control. Finished results stay.
    void cancel() { control_.stop = true; }

    struct Progress {
        Index done = 0, left = 0;  ///< units; left is a guess until the first unit is done
    };
    Progress progress() const { return {done_, left_}; }

  private:
    void work();

    Unit unit_;
    Control control_;
    std::atomic<Index> done_{0}, left_{1};
    std::atomic<Index> reached_{0};           // done_, or `all` once no unit will follow; finish() waits for it
    std::exception_ptr error_;                // written before reached_ is `all`, read after
    std::optional<BackgroundThread> thread_;  // last member, so that it is destroyed first
};

}  // namespace tilescope::show
