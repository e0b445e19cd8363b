#include "show/run.hpp"

#include <limits>

#include "core/machine/mistakes.hpp"
#include "core/machine/out_of_chip_memory.hpp"
#include "core/time/clock.hpp"

namespace tilescope::show {
namespace {

constexpr Index line_keyframe = 512;  // steps

/// What is free, like a copy between registers, takes no part of the bandwidth.
bool takes_time(const Event& e) { return e.cost.hbm() > 0 || e.cost.flops() > 0; }

/// At most `heads` heads, and at least one. Heads that share a K and V are taken together, or are few enough to have
/// one of them.
Index whole_groups(const Problem& p, Index heads) {
    const Index sharing = p.heads / p.kv_heads;
    if (heads >= p.batch_heads()) return p.batch_heads();
    return std::max<Index>(1, heads <= sharing ? heads : heads / sharing * sharing);
}

/// The problem of the first heads, batch entries one after the other.
Problem first_heads(const Problem& p, Index heads) {
    const Index shown = whole_groups(p, heads);
    if (shown == p.batch_heads()) return p;
    Problem first = p;
    first.batch = 1;
    first.heads = shown;
    first.kv_heads = std::max<Index>(1, shown / (p.heads / p.kv_heads));
    return first;
}

/// Counts the events of thread blocks that a recording would have. A folded run tells them with their weights.
struct EventCount : Listener {
    Count events = 0;
    void begin(const BlockMark& b) override { events += b.times; }
    void end(const BlockMark& b) override { events += b.times; }
    void on(const Event& e, TileData) override { events += e.times; }
};

void count_with(std::initializer_list<Listener*> listeners, const Experiment& e) {
    Gpu gpu(e.gpu, count_mode, 1);
    for (Listener* l : listeners) gpu.listen(*l);
    run_program(gpu, *e.algorithm, e.problem, e.tiling, {});
}

/// How many heads the limits allow with numbers, of a run with so many events; 0: not even one.
Index heads_with_numbers(const Report& counted, Count events, const RecordingLimits& limits) {
    const Counters& c = counted.counters;
    const Index all = counted.experiment.problem.batch_heads();
    const auto fit = [&](Count limit, Count cost) { return cost > 0 ? limit / ceil_div(cost, all) : all; };
    // Tiles are recorded as floats whenever they are written; stored types may be half as wide.
    return std::min({all, fit(limits.matmul_flops, c.matmul_flops + 8 * c.exps),
                     fit(limits.value_bytes, 2 * (c.sram_write + c.register_write)),
                     fit(limits.events - c.launches, events)});
}

/// Runs a program; what it fails with, if it does.
template <class F>
std::optional<Failure> failure_of(F&& run) {
    try {
        run();
    } catch (const BrokenPromise& e) {
        return Failure{e.what(), e.place};
    } catch (const Race& e) {
        return Failure{e.what(), e.place};
    } catch (const OutOfChipMemory& e) {
        return Failure{e.what(), e.place};
    }
    return std::nullopt;
}

std::vector<Index> up_to(Index n) {
    std::vector<Index> all(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
    return all;
}

}  // namespace

GpuSpec with_room(GpuSpec gpu) {
    gpu.sram_per_block = gpu.registers_per_sm = std::numeric_limits<Bytes>::max() / 2;
    return gpu;
}

Index heads_to_record(const Report& counted, const RecordingLimits& limits) {
    EventCount count;
    count_with({&count}, counted.experiment);
    return whole_groups(counted.experiment.problem, heads_with_numbers(counted, count.events, limits));
}

Run::Run(Report counted, Index heads, const InputsFor& inputs, const RecordingLimits& limits,
         const std::optional<GpuSpec>& on)
    : counted_(std::move(counted)), counted_on_(experiment().gpu) {
    Profile profile;
    Nest nest;
    EventCount count;
    count_with({&profile, &nest, &count}, experiment());
    lines_ = profile.lines();
    nest_ = nest.launches();
    if (on) counted_.experiment.gpu = *on;
    record(heads, count.events, inputs, limits);
    if (failure_) tell_failure();
    add_up();
    player_ = std::make_unique<Player>(trace());
    seek(0);
}

void Run::record(Index heads, Count events, const InputsFor& inputs, const RecordingLimits& limits) {
    const Experiment& e = experiment();
    recorded_ = first_heads(e.problem, heads);
    const Index all = e.problem.batch_heads(), shown = recorded_.batch_heads();
    if (shown < all)
        shortened_ = (shown == 1 ? "Shown: head 1 of " : "Shown: heads 1-" + std::to_string(shown) + " of ") +
                     std::to_string(all) + ". The others do the same on other data.";
    if (inputs && shown <= heads_with_numbers(counted_, events, limits)) {
        inputs_ = inputs(recorded_);
        if (record_numbers(limits)) return;
    }
    record_shapes(limits);
}

/// Records every thread block on real numbers; false, with nothing recorded, if that outgrows the limits.
bool Run::record_numbers(const RecordingLimits& limits) {
    const Experiment& e = experiment();
    Gpu gpu(e.gpu, numeric_mode, 1);
    Trace trace(gpu, {.max_events = limits.events,
                      .max_value_bytes = 4 * limits.value_bytes,
                      .expected_value_bytes = 2 * limits.value_bytes});
    gpu.listen(trace);
    try {
        failure_ = failure_of([&] { run_program(gpu, *e.algorithm, recorded_, e.tiling, inputs_); });
    } catch (const RunError&) {
        inputs_.clear();
        return false;
    }
    schedule_.emplace(std::move(trace), e.gpu.sms);
    reference_ = std::make_unique<ReferenceAhead>(e.algorithm->family, recorded_, inputs_);
    reference_->job().begin();
    return true;
}

/// Records the first thread blocks of every launch, without numbers: as many as fit, and a part of the first if that is
/// too long.
void Run::record_shapes(const RecordingLimits& limits) {
    const Experiment& e = experiment();
    constexpr Mode shapes{.data = false, .fold = false, .only_wanted = true};
    bool cut = false;
    const auto recording = [&](Index blocks) {
        Gpu gpu(e.gpu, shapes, 1);
        Trace trace(gpu, {.values = false, .blocks = up_to(blocks), .max_events = limits.events});
        gpu.listen(trace);
        cut = false;
        try {
            failure_ = failure_of([&] { run_program(gpu, *e.algorithm, recorded_, e.tiling, {}); });
        } catch (const RunError&) {
            cut = true;
        }
        return trace;
    };
    Index most = 1;
    for (const LaunchInfo& l : count({e.algorithm, recorded_, e.tiling, counted_on_}).launches)
        most = std::max<Index>(most, l.thread_blocks);
    Trace trace = recording(1);
    Index blocks = cut ? 1 : std::clamp<Index>(limits.events / std::max<Index>(1, trace.size()), 1, most);
    // Whole waves, if there is more than one: otherwise SMs would seem idle that are not.
    if (blocks > e.gpu.sms && blocks < most) blocks -= blocks % e.gpu.sms;
    if (blocks > 1) trace = recording(blocks);
    // Later blocks may be longer than the first.
    for (; cut && blocks > 1; trace = recording(blocks)) blocks /= 2;
    if (!shortened_.empty()) shortened_ += ' ';
    if (cut)
        shortened_ += "Too long to record: the first " + std::to_string(limits.events) + " events, without numbers.";
    else if (blocks < most)
        shortened_ += "Too large for numbers: shapes only, of the first " + std::to_string(blocks) +
                      " thread blocks of each launch.";
    else
        shortened_ += "Too large for numbers: shapes only.";
    schedule_.emplace(std::move(trace), e.gpu.sms);
}

/// The last tick of a thread block that ends on this line; of a line that fails with its first operation there is
/// none, and it is the last tick of all.
Index Run::last_tick_of(const Place& at) const {
    const auto& all = schedule_->placements();
    const auto p = std::find_if(all.begin(), all.end(),
                                [&](const Placement& k) { return k.launch == at.launch && k.block == at.block; });
    if (p == all.end()) return ticks();
    for (Index tick = p->last_tick; tick > p->first_tick; --tick)
        for (Index k = schedule_->steps_after(tick); k-- > schedule_->steps_after(tick - 1);)
            if (const Step& s = trace()[k]; s.event.block == at.block) {
                if (s.event.line == at.line) return tick;
                break;
            }
    return p->last_tick;
}

void Run::tell_failure() {
    failure_->tick = last_tick_of(failure_->place);
    if (!shortened_.empty()) shortened_ += ' ';
    shortened_ += "Fails after step " + std::to_string(failure_->tick) + ": " + failure_->message + '.';
}

/// Bytes and seconds by tick, and keyframes of the costs by line.
void Run::add_up() {
    const Experiment& e = experiment();
    Bytes read = 0, write = 0;
    double time = 0;
    hbm_read_ = hbm_write_ = {0};
    seconds_ = {0};
    LineCosts lines;
    made_.assign(trace().tiles().size(), -1);
    for (Index tick = 1; tick <= ticks(); ++tick) {
        const Index first = schedule_->steps_after(tick - 1), last = schedule_->steps_after(tick);
        // A tick takes as long as the slowest of its SMs.
        Count busy = 0;
        for (Index s = first; s < last; ++s) busy += takes_time(trace()[s].event);
        double slowest = 0;
        for (Index s = first; s < last; ++s) {
            const Event& event = trace()[s].event;
            if (lines.step % line_keyframe == 0) line_keyframes_.push_back(lines);
            read += event.cost.hbm_read, write += event.cost.hbm_write;
            slowest = std::max(slowest, tilescope::seconds(event.cost, e.gpu, e.problem.dtype, busy));
            lines.by_line[event.line] += event.cost;
            if (event.out != no_tile && made_[event.out] < 0) made_[event.out] = s;
            ++lines.step;
        }
        time += slowest;
        hbm_read_.push_back(read), hbm_write_.push_back(write);
        seconds_.push_back(time);
    }
    if (line_keyframes_.empty()) line_keyframes_.push_back({});
}

void Run::seek(Index tick) {
    tick = std::clamp<Index>(tick, 0, ticks());
    player_->seek(schedule_->steps_after(tick));
    const MachineState& state = player_->state();
    moment_ = {.tick = tick, .kernel = std::string(state.kernel), .launch = state.launch, .sms = {}, .busy = 0};
    std::map<std::pair<Index, Index>, SmState*> by_block;
    moment_.sms.resize(static_cast<std::size_t>(schedule_->sms_used()));
    for (Index sm = 0; sm < schedule_->sms_used(); ++sm) {
        SmState& s = moment_.sms[static_cast<std::size_t>(sm)];
        s.sm = sm;
        if (tick > 0) s.block = schedule_->at(sm, tick);
        if (!s.block) continue;
        ++moment_.busy;
        by_block[{s.block->launch, s.block->block}] = &s;
    }
    for (const TileState& tile : state.tiles) {
        const RecordedTile& t = trace().tiles()[tile.tile];
        SmState* s = by_block[{t.launch, t.block}];
        if (!s) continue;
        s->tiles.push_back(tile);
        (t.space == Space::sram ? s->sram_used : s->registers_used) += t.bytes();
    }
    if (tick == 0) return;
    for (Index k = schedule_->steps_after(tick - 1); k < schedule_->steps_after(tick); ++k) {
        const Step& step = trace()[k];
        const auto found = by_block.find({step.launch, step.event.block});
        if (step.kind() == Kind::launch || found == by_block.end() || !found->second) continue;
        found->second->steps.push_back(k);
        found->second->line = step.event.line;
    }
}

const std::map<std::uint16_t, Counters>& Run::line_costs() const {
    const Index now = schedule_->steps_after(tick());
    if (line_costs_.step > now || line_costs_.step / line_keyframe < now / line_keyframe)
        line_costs_ =
            line_keyframes_[std::min(static_cast<std::size_t>(now / line_keyframe), line_keyframes_.size() - 1)];
    for (; line_costs_.step < now; ++line_costs_.step) {
        const Event& e = trace()[line_costs_.step].event;
        line_costs_.by_line[e.line] += e.cost;
    }
    return line_costs_.by_line;
}

const Step* Run::operation(const SmState& sm) const {
    if (sm.steps.empty()) return nullptr;
    const Step& last = trace()[sm.steps.back()];
    return works(last.kind()) ? &last : nullptr;
}

TileData Run::values_before(const TileState& tile) const {
    for (Index k = tile.written; k-- > made_[tile.tile];)
        if (const Step& s = trace()[k]; s.event.out == tile.tile) return trace().values(s);
    return {};
}

Index Run::head_of(const Placement& p) const {
    const auto& axes = trace().launches()[static_cast<std::size_t>(p.launch)].axes;
    const auto& blocks = trace().blocks();
    const auto block = std::partition_point(blocks.begin(), blocks.end(), [&](const RecordedBlock& b) {
        return std::pair(b.launch, b.block) < std::pair(p.launch, p.block);
    });
    for (std::size_t k = 0; k < axes.size(); ++k)
        if (axes[k].name == "head") return block->at[k].begin;
    return 0;
}

bool Run::on_sm(const Step& step, Index sm) const {
    if (step.kind() == Kind::launch) return true;
    const auto& all = schedule_->placements();
    const auto found = std::partition_point(all.begin(), all.end(), [&](const Placement& p) {
        return std::pair(p.launch, p.block) < std::pair(step.launch, step.event.block);
    });
    return found != all.end() && found->block == step.event.block && found->sm == sm;
}

}  // namespace tilescope::show
