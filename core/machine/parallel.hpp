// Work on several threads. Only this file and its source start threads. Where no thread can be started (in a browser's
// page without shared memory, or on a machine that has too many) the caller's thread does all the work.
#pragma once

#include <functional>
#include <mutex>
#include <thread>

#include "core/machine/units.hpp"

namespace tilescope {

/// How many threads this machine runs at a time; 1 where this is unknown, or where no thread can be started.
int cores();

/// Calls work(worker, k) once for every k below n, on up to `threads` threads (0: all cores), the caller's among them.
/// Workers are numbered below min(threads, n), and none has two calls at a time, so each can keep things of its own. A
/// single worker takes the k in order. After the first exception, of any type, no worker begins another k; once all
/// have stopped, the exception is thrown again. A stop request is such an exception: work() throws Interrupted.
void at_once(Index n, int threads, const std::function<void(Index worker, Index k)>& work);

/// The same, where work() returns a function that uses its result (empty: nothing to do). These functions are called in
/// the order of k, one at a time. Only a limited number of them wait to be called, however large n is.
void in_order(Index n, int threads, const std::function<std::function<void()>(Index worker, Index k)>& work);

/// Sleeps for a millisecond: for loops that ask again and again whether another thread is done.
void wait_a_moment();

/// For code that only one thread may run at a time: `const Lock lock(mutex);`.
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
