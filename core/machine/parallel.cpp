#include "core/machine/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <map>

namespace tilescope {
namespace {

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
constexpr bool has_threads = false;
#else
constexpr bool has_threads = true;
#endif

}  // namespace

int cores() { return has_threads ? static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) : 1; }

void at_once(Index n, int threads, const std::function<void(Index, Index)>& work) {
    std::atomic<Index> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error;  // of the first worker to fail; read after all have stopped
    const auto take = [&](Index worker) {
        try {
            for (Index k; !failed && (k = next++) < n;) work(worker, k);
        } catch (...) {
            if (!failed.exchange(true)) error = std::current_exception();
        }
    };
    {
        std::deque<BackgroundThread> others;
        const Index workers = std::min<Index>(threads > 0 ? threads : cores(), n);
        try {
            for (Index w = 1; w < workers; ++w)
                if (!others.emplace_back([&take, w] { take(w); }).started()) break;
        } catch (const std::bad_alloc&) {
            // As where no thread can be started: the threads that were started do the work.
        }
        take(0);
    }
    if (error) std::rethrow_exception(error);
}

void in_order(Index n, int threads, const std::function<std::function<void()>(Index, Index)>& work) {
    constexpr Index most_ahead = 64;  // k is at most so far ahead of `next`, for each thread
    const Index workers = threads > 0 ? threads : cores();
    Mutex mutex;
    std::map<Index, std::function<void()>> waiting;
    std::atomic<Index> next{0};
    std::atomic<bool> failed{false};
    at_once(n, static_cast<int>(workers), [&](Index worker, Index k) {
        try {
            // The worker that has k = next never waits here, so the others can go on.
            while (k >= next + most_ahead * workers) {
                if (failed) return;
                wait_a_moment();
            }
            auto take = work(worker, k);
            const Lock lock(mutex);
            waiting.emplace(k, std::move(take));
            while (!waiting.empty() && waiting.begin()->first == next) {
                const auto first = waiting.extract(waiting.begin());
                if (first.mapped()) first.mapped()();  // if it throws, next stays: no later one is called
                ++next;
            }
        } catch (...) {
            failed = true;
            throw;
        }
    });
}

void wait_a_moment() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

BackgroundThread::BackgroundThread(const std::function<void()>& work) {
    if (!has_threads) return;
    try {
        thread_ = std::thread(work);
    } catch (const std::exception&) {
        // Too many threads already: the caller does without this one.
    }
}

BackgroundThread::~BackgroundThread() {
    if (thread_.joinable()) thread_.join();
}

}  // namespace tilescope
