// A result that takes longer than a frame to make: the previous one stays in sight until the next can be shown.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/error.hpp"
#include "core/machine/mode.hpp"
#include "show/run/job.hpp"

namespace tilescope::show {

/// `What` has two members: work(Control&) is a unit of a Job, presentable() says whether there is something to show.
template <class Key, class What>
class Beside {
  public:
    /// Begins to make what `key` names, unless the newest result has this key. `begin` returns a std::unique_ptr<What>.
    template <class F>
    void ask(const Key& key, F&& begin) {
        if (newest() && newest()->key == key) return;
        retire(coming_);
        coming_ = std::make_unique<Made>(key, begin());
        coming_->job.begin();
    }
    void forget() {
        retire(coming_);
        retire(shown_);
    }
    /// Call this every frame, with `units` as for Job::pump(). True when nothing is left to do. Throws nothing.
    bool pump(Index units) {
        std::erase_if(leaving_, [](const auto& m) { return m->done(0); });
        if (coming_) {
            coming_->done(units);
            if (coming_->what->presentable() || coming_->over()) {
                retire(shown_);
                shown_ = std::move(coming_);
            }
        }
        return !coming_ && (!shown_ || shown_->done(units));
    }
    /// Both do the work, or wait for the thread that does it: await() until the newest result can be shown, finish()
    /// until nothing is left to do.
    void await() {
        while (!pump(1) && coming_) wait_a_moment();
    }
    void finish() {
        while (!pump(1)) wait_a_moment();
    }

    What* shown() { return shown_ ? shown_->what.get() : nullptr; }
    const What* shown() const { return shown_ ? shown_->what.get() : nullptr; }
    /// Why the result that is shown is incomplete; empty where nothing went wrong.
    std::string problem() const { return shown_ ? shown_->problem : ""; }
    bool busy() const { return coming_ || (shown_ && !shown_->over()); }

  private:
    struct Made {
        Made(Key k, std::unique_ptr<What> w)
            : key(std::move(k)), what(std::move(w)), job([this](Control& control) { return what->work(control); }) {}

        bool over() const { return over_; }
        bool done(Index units) {
            if (over_) return true;
            try {
                over_ = job.pump(units);
            } catch (const Interrupted&) {
                over_ = true;
            } catch (const std::exception& e) {
                over_ = true, problem = e.what();
            }
            return over_;
        }

        Key key;
        std::unique_ptr<What> what;
        std::string problem;
        Job job;  // last member, so that it is destroyed first
      private:
        bool over_ = false;
    };
    const Made* newest() const { return coming_ ? coming_.get() : shown_.get(); }
    /// Cancels the job without waiting, because its unit in progress may take a while. pump() deletes `m` afterwards.
    void retire(std::unique_ptr<Made>& m) {
        if (!m) return;
        m->job.cancel();
        leaving_.push_back(std::move(m));
    }

    std::unique_ptr<Made> shown_, coming_;
    std::vector<std::unique_ptr<Made>> leaving_;
};

}  // namespace tilescope::show
