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
    /// Does the next unit of work and returns how many are left, as far as is known by then; 0: that was the last. A
    /// unit is what a frame can afford. A longer one passes the Control on to its Gpu, so that cancel() ends it early.
    using Unit = std::function<Index(Control&)>;
    static constexpr Index all = std::numeric_limits<Index>::max();

    /// Does no work yet: begin(), pump() and finish() do. One thread calls all of these: the one that wants the work.
    explicit Job(Unit unit) : unit_(std::move(unit)) {}
    /// Cancels, and waits for the unit in progress.
    ~Job() { cancel(); }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Gives the work to a thread of its own. Where the system has none to give, pump() and finish() do the work.
    void begin();
    /// Call this every frame: does at most `units` units here, unless a thread does the work. True once all is done.
    bool pump(Index units);
    /// Works, or waits, until so many units are done, or all of them.
    void finish(Index units = all);
    // Both throw what a unit threw, at every call, and Interrupted after cancel(). finish() throws only where the units
    // that it was asked for were not done before.

    /// The unit that runs is finished, and no other begins. Results of finished units stay.
    void cancel() { control_.stop = true; }

    struct Progress {
        Index done = 0, left = 0;  ///< units; left is a guess until the first is done
    };
    Progress progress() const { return {done_, left_}; }

  private:
    void work();

    Unit unit_;
    Control control_;
    std::atomic<Index> done_{0}, left_{1};
    std::atomic<Index> reached_{0};           // as done_, but `all` when nothing more comes: what finish() waits for
    std::exception_ptr error_;                // written before reached_ is `all`, read after
    std::optional<BackgroundThread> thread_;  // last, to end first
};

}  // namespace tilescope::show
