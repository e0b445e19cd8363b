#include "show/session.hpp"

#include <cmath>

#include "show/make_run.hpp"

namespace tilescope::show {
namespace {

/// The tiling that explain() proposes: it keeps Br if it can, or else Bc.
std::optional<Tiling> nearest_fit(const Algorithm& algorithm, const Request& r, const Tiling& asked) {
    for (const Tiling& kept : {Tiling{asked.br, 0}, Tiling{0, asked.bc}, Tiling{}})
        if (const auto t = fitting_tiling(algorithm, r.problem, kept, r.gpu)) return t;
    return std::nullopt;
}

/// What the program's tiles are, by their names: of a run on an SM that holds all of them.
std::map<std::string, Meaning> meanings_of_tiles(const Experiment& e) {
    struct Meanings : Listener {
        std::map<std::string, Meaning> by_name;
        void on(const Event& event, TileData) override {
            if (event.tile && event.meaning != Meaning::other) by_name[event.tile->name] = event.meaning;
        }
    } found;
    Gpu gpu(with_room(e.gpu), count_mode, 1);
    gpu.listen(found);
    run_program(gpu, *e.algorithm, e.problem, e.tiling, {});
    return found.by_name;
}

}  // namespace

const char* name_of(Pace p) {
    constexpr const char* names[] = {"step", "bytes", "time"};
    return names[static_cast<int>(p)];
}

std::optional<Pace> pace_from(std::string_view name) {
    for (const Pace p : {Pace::step, Pace::bytes, Pace::time})
        if (name == name_of(p)) return p;
    return std::nullopt;
}

const Algorithm& Session::algorithm() const {
    const Algorithm* a = find_algorithm(setup_.algorithm);
    return a ? *a : *find_algorithm("flash_v2");
}

void Session::ask(const Setup& setup) {
    if (asked_ && setup == setup_) return;
    const bool only_pace = asked_ && [&] {
        Setup s = setup;
        s.pace = setup_.pace;
        return s == setup_;
    }();
    setup_ = setup;
    asked_ = true;
    if (only_pace)
        line_up();
    else
        run_again();
    ++version_;
}

void Session::set(const std::string& flag, const std::string& value) {
    Setup s = setup_;
    try {
        value.empty() ? clear_flag(s.options, flag) : set_flag(s.options, flag, value);
    } catch (const UsageError& e) {
        forget();
        problem_ = e.what();
        asked_ = false;  // what ran before can be asked for again
        ++version_;
        return;
    }
    ask(s);
}

std::unique_ptr<Run> Session::make_run(const Algorithm& algorithm, Index heads) {
    const Request& r = *request_;
    const Tiling tiling = choose_tiling(algorithm, r.problem, r.given, r.gpu);
    if (!tiling_) tiling_ = tiling;
    const Experiment e{&algorithm, r.problem, tiling, r.gpu};
    try {
        Report counted = count(e);
        if (heads == 0) heads = heads_to_record(counted, limits_);
        return std::make_unique<Run>(std::move(counted), heads, inputs_for_part(setup_.options, r, algorithm), limits_);
    } catch (const OutOfChipMemory& error) {
        overflow_ = Overflow{algorithm.name,
                             error,
                             tiling,
                             nearest_fit(algorithm, r, tiling),
                             explain(error, algorithm, r.problem, tiling, r.gpu),
                             meanings_of_tiles(e)};
        throw;
    }
}

void Session::forget() {
    run_.reset();
    rival_.reset();
    request_.reset();
    tiling_.reset();
    overflow_.reset();
    problem_.clear();
    counted_.clear();
    line_up();
}

void Session::run_again() {
    forget();
    try {
        const Algorithm& first = algorithm_named(setup_.algorithm);
        request_ = resolve(setup_.options, first.family);
        run_ = make_run(first, 0);
        if (!setup_.rival.empty()) {
            const Algorithm& second = algorithm_named(setup_.rival);
            if (second.family != first.family)
                throw UsageError("--race " + setup_.rival + ": computes something else than " + setup_.algorithm +
                                 "; race algorithms of one family");
            // Both record the same heads: those that the hungrier of the two can.
            const Index heads = run_->recorded().batch_heads();
            rival_ = make_run(second, 0);
            if (rival_->recorded().batch_heads() < heads)
                run_ = make_run(first, rival_->recorded().batch_heads());
            else if (rival_->recorded().batch_heads() > heads)
                rival_ = make_run(second, heads);
        }
    } catch (const OutOfChipMemory&) {
        run_.reset();
        rival_.reset();
    } catch (const std::runtime_error& e) {
        problem_ = e.what();
        run_.reset();
        rival_.reset();
    }
    line_up();
}

/// Lists the moments at which something changes.
void Session::line_up() {
    moments_ = {{0, 0}};
    if (!run_) return;
    if (!rival_) {
        for (Index t = 1; t <= run_->ticks(); ++t) moments_.emplace_back(t, 0);
        return;
    }
    const auto reached = [&](const Run& r, Index tick) {
        switch (setup_.pace) {
            case Pace::bytes:
                return static_cast<double>(r.hbm_read(tick) + r.hbm_write(tick));
            case Pace::time:
                return r.seconds(tick);
            default:
                return static_cast<double>(tick);
        }
    };
    Index a = 0, b = 0;
    while (a < run_->ticks() || b < rival_->ticks()) {
        const double next_a = a < run_->ticks() ? reached(*run_, a + 1) : INFINITY;
        const double next_b = b < rival_->ticks() ? reached(*rival_, b + 1) : INFINITY;
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

void Session::show(Index position) {
    const auto [a, b] = ticks_at(std::clamp<Index>(position, 0, length()));
    if (run_ && run_->tick() != a) run_->seek(a);
    if (rival_ && rival_->tick() != b) rival_->seek(b);
}

const Report* Session::counted(const std::string& name) {
    const Algorithm* a = find_algorithm(name);
    if (!a || !request_ || a->family != algorithm().family) return nullptr;
    if (run_ && name == setup_.algorithm) return &run_->counted();
    const auto [kept, is_new] = counted_.try_emplace(name);
    if (is_new) {
        try {
            const Request& r = *request_;
            kept->second = count({a, r.problem, choose_tiling(*a, r.problem, r.given, r.gpu), r.gpu});
        } catch (const std::runtime_error&) {
        }
    }
    return kept->second ? &*kept->second : nullptr;
}

}  // namespace tilescope::show
