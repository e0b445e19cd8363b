#include "show/run/job.hpp"

#include "core/machine/mode.hpp"

namespace tilescope::show {

void Job::begin() {
    if (thread_ || reached_ == all) return;
    thread_.emplace([this] {
        while (reached_ != all) work();
    });
    if (!thread_->started()) thread_.reset();
}

/// One unit, and what became of it.
void Job::work() {
    bool over = false;
    try {
        check_stop(&control_);
        left_ = unit_(control_);
        ++done_;
        over = left_ == 0;
    } catch (...) {
        error_ = std::current_exception();
        over = true;
    }
    reached_ = over ? all : done_.load();
    reached_.notify_all();
}

bool Job::pump(Index units) {
    for (; !thread_ && units > 0 && reached_ != all; --units) work();
    if (reached_ != all) return false;
    if (error_) std::rethrow_exception(error_);
    return true;
}

void Job::finish(Index units) {
    for (Index now; (now = reached_) < units;) thread_ ? reached_.wait(now) : work();
    if (reached_ == all && error_ && done_ < units) std::rethrow_exception(error_);
}

}  // namespace tilescope::show
