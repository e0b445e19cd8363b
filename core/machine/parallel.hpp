// Several things at a time: the one place that knows of threads. Where there are none (a browser's page without shared
// memory, a machine that refuses another one) the same work is done in turn.
#pragma once

#include <functional>
#include <mutex>
#include <thread>

#include "core/machine/units.hpp"

namespace tilescope {

/// How many threads this machine runs at a time; 1 where there are no others to be had.
int cores();

/// Calls work(worker, k) once for every k below n, on up to `threads` threads (0: all cores), the caller's among them.
/// Workers are numbered below min(threads, n), and none has two calls at a time, so each can keep things of its own.
/// One worker takes the numbers in order. The first exception, of whatever type, ends it: nobody begins another k, and
/// it is thrown again when all have come to rest. So a stop request is an exception, too: work() throws Interrupted.
void at_once(Index n, int threads, const std::function<void(Index worker, Index k)>& work);

/// The same, where work(k) returns what is to be done with its result: that is called in the order of k, one at a time.
/// Few results wait to be taken, however many there are. Empty is what there is nothing to be done with.
void in_order(Index n, int threads, const std::function<std::function<void()>(Index worker, Index k)>& work);

/// Lets a millisecond pass, for those who look now and then whether another thread is done.
void wait_a_moment();

/// What only one worker may do at a time: `const Lock lock(mutex);`.
using Mutex = std::mutex;
using Lock = std::scoped_lock<Mutex>;

/// A thread beside the caller's, joined at the end of its scope. Throws nothing: where no thread can be had, `work` is
/// not called, and started() is false.
class BackgroundThread {
  public:
    /// `work` may not throw.
    explicit BackgroundThread(const std::function<void()>& work);
    ~BackgroundThread();
    BackgroundThread(const BackgroundThread&) = delete;
    BackgroundThread& operator=(const BackgroundThread&) = delete;

    bool started() const { return thread_.joinable(); }

  private:
    std::thread thread_;
};

}  // namespace tilescope
