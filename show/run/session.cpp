#include "show/run/session.hpp"

#include <cmath>

namespace tilescope::show {
using namespace lab;
namespace {

// A run that takes no more units is there when ask() returns: about the work of a frame.
constexpr Index units_at_once = 8;

const Algorithm& algorithm_of(const Setup& setup) {
    const Algorithm* a = find_algorithm(setup.algorithm);
    return a ? *a : *find_algorithm("flash_v2");
}

/// Files may be of any size, and a search of any length.
bool may_take_long(const Setup& s) {
    const Options& o = s.options;
    return !(s.recording + o.q + o.k + o.v + o.x).empty() || o.tiles == name_of(TileRule::best);
}

}  // namespace

/// On the heap, so that it stays in place while a thread works on it and the Session moves.
struct Session::InTheMaking {
    InTheMaking(const Setup& setup, const RecordingLimits& limits)
        : making(setup, limits), job([this](Control& control) { return making.work(control); }) {}

    Making making;
    Job job;  // last member, so that it is destroyed first
};

Session::Session(RecordingLimits limits) : limits_(limits) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

const Algorithm& Session::algorithm() const {
    return !setup_.recording.empty() && run() ? run()->algorithm() : algorithm_of(setup_);
}

void Session::ask(const Setup& setup) {
    if (asked_ && setup == setup_) return;
    const bool only_pace = asked_ && [&] {
        Setup s = setup;
        s.pace = setup_.pace;
        return s == setup_;
    }();
    const bool goes_on = plays(setup);
    setup_ = setup;
    // Whoever changes what a recording says wants to see another run.
    if (!goes_on) setup_.recording.clear();
    asked_ = true;
    if (only_pace && setup_.recording.empty()) {
        if (shown_) shown_->pace = setup.pace;
        line_up();
        ++version_;
        return;
    }
    making_.reset();  // the setup in the making is no longer wanted
    making_ = std::make_unique<InTheMaking>(setup_, limits_);
    if (may_take_long(setup_) || !pump(units_at_once)) making_->job.begin();
}

/// Whether the setup plays the recording that it names: it says nothing else, repeats setup_, or names another file.
bool Session::plays(const Setup& setup) const {
    Setup alone;
    alone.recording = setup.recording;
    return setup == alone || setup == setup_ || setup.recording != setup_.recording;
}

void Session::set(const std::string& flag, const std::string& value) {
    Setup s = setup_;
    try {
        value.empty() ? clear_flag(s.options, flag) : set_flag(s.options, flag, value);
    } catch (const UsageError& e) {
        making_.reset();
        Made wrong;
        wrong.problem = e.what();
        show_made(std::move(wrong));
        asked_ = false;  // what ran before can be asked for again
        return;
    }
    ask(s);
}

bool Session::pump(Index units) {
    if (making_ && making_->job.pump(units)) swap_in();
    return !making_;
}

void Session::finish() {
    if (!making_) return;
    making_->job.finish();
    swap_in();
}

void Session::cancel() {
    if (!making_) return;
    making_.reset();
    if (shown_) setup_ = *shown_;
}

Job::Progress Session::progress() const { return making_ ? making_->job.progress() : Job::Progress{}; }

void Session::swap_in() {
    Made made = making_->making.take();
    making_.reset();
    show_made(std::move(made));
}

void Session::show_made(Made made) {
    made_ = std::move(made);
    if (made_.played) setup_ = *made_.played;
    shown_ = setup_;
    counted_.clear();
    line_up();
    ++version_;
}

/// Lists the moments at which something changes.
void Session::line_up() {
    moments_ = {{0, 0}};
    if (!run()) return;
    if (!rival()) {
        for (Index t = 1; t <= run()->ticks(); ++t) moments_.emplace_back(t, 0);
        return;
    }
    const auto reached = [&](const Run& r, Index tick) {
        switch (setup_.pace) {
            case Pace::bytes:
                return static_cast<double>(r.hbm(tick));
            case Pace::time:
                return r.seconds_for_all(tick);
            default:
                return static_cast<double>(tick);
        }
    };
    Index a = 0, b = 0;
    while (a < run()->ticks() || b < rival()->ticks()) {
        const double next_a = a < run()->ticks() ? reached(*run(), a + 1) : INFINITY;
        const double next_b = b < rival()->ticks() ? reached(*rival(), b + 1) : INFINITY;
        const double next = std::min(next_a, next_b);
        if (next_a <= next) ++a;
        if (next_b <= next) ++b;
        moments_.emplace_back(a, b);
    }
}

Index Session::position_of(Index tick) const {
    const auto before = [&](const auto& m) { return m.first < tick; };
    return std::min<Index>(std::partition_point(moments_.begin(), moments_.end(), before) - moments_.begin(), length());
}

Index Session::position_at(double seconds, bool of_rival) const {
    const Run& r = of_rival ? *rival() : *run();
    const auto before = [&](const auto& m) {
        const Index tick = of_rival ? m.second : m.first;
        return this->seconds(r, tick) < seconds;
    };
    return std::min<Index>(std::partition_point(moments_.begin(), moments_.end(), before) - moments_.begin(), length());
}

double Session::weight(Index position) const {
    const auto reached = [this](Index p) {
        const auto [a, b] = ticks_at(p);
        return std::max(seconds(*run(), a), rival() ? seconds(*rival(), b) : 0.0);
    };
    if (setup_.pace != Pace::time || position == 0 || !run() || reached(length()) == 0) return 1;
    return (reached(position) - reached(position - 1)) / reached(length()) * static_cast<double>(length());
}

void Session::show(Index position) {
    const auto [a, b] = ticks_at(std::clamp<Index>(position, 0, length()));
    if (run() && run()->tick() != a) run()->seek(a);
    if (rival() && rival()->tick() != b) rival()->seek(b);
}

const Report* Session::counted(const std::string& name) {
    const Algorithm* a = find_algorithm(name);
    if (!a || !request() || a->computes != algorithm().computes) return nullptr;
    if (run() && name == run()->algorithm().name) return &run()->counted();
    const auto [kept, is_new] = counted_.try_emplace(name);
    if (is_new) {
        try {
            Request r = *request();
            if (r.wish.rule == TileRule::best) r.wish.rule = TileRule::kernel;  // no frame waits for a search
            kept->second = count(experiment_of(*a, r));
        } catch (const std::runtime_error&) {
        }
    }
    return kept->second ? &*kept->second : nullptr;
}

}  // namespace tilescope::show
