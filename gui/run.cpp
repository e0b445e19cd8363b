#include "gui/run.hpp"

#include <cmath>

#include "core/clock.hpp"
#include "lab/reference.hpp"

namespace tilescope::gui {
namespace {

constexpr Index line_keyframe = 512;  // steps

bool computes(const Step& s) { return s.event.op != Op::launch && (s.event.cost.hbm() > 0 || s.event.cost.flops() > 0); }

/// The problem of the first `heads` heads, batch entries one after the other. The heads that share a K and V stay
/// together.
Problem first_heads(const Problem& p, Index heads) {
    if (heads >= p.batch_heads()) return p;
    Problem first = p;
    const Index sharing = p.heads / p.kv_heads;
    first.batch = 1;
    first.heads = heads;
    first.kv_heads = std::max<Index>(1, heads / sharing);
    return first;
}

Bytes estimated_values(const Report& counted) {
    // Tiles are recorded as floats whenever they are written; stored types may be half as wide.
    return 2 * (counted.counters.sram_write + counted.counters.register_write);
}

std::vector<Index> up_to(Index n) {
    std::vector<Index> all(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
    return all;
}

double squares_of_difference(TileData got, const double* want, std::size_t first, const float* divisors, Index cols) {
    double sum = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double value = static_cast<double>(got[i]) /
                             (divisors ? static_cast<double>(divisors[i / static_cast<std::size_t>(cols)]) : 1.0);
        const double d = (std::isfinite(value) ? value : 0) - want[first + i];
        sum += d * d;
    }
    return sum;
}

const char* output_of(const Algorithm& a) { return a.family == Family::softmax ? "Y" : "O"; }

}  // namespace

Index heads_to_record(const Report& counted, const RecordingLimits& limits) {
    const Problem& p = counted.experiment.problem;
    const Index sharing = p.heads / p.kv_heads, all = p.batch_heads();
    const Count flops = std::max<Count>(1, (counted.counters.matmul_flops + 8 * counted.counters.exps) / all);
    const Bytes values = std::max<Bytes>(1, estimated_values(counted) / all);
    const Index fit = std::min({all, limits.matmul_flops / flops, limits.value_bytes / values});
    // Heads that share a K and V are recorded together, or are few enough to have one of them.
    return std::max<Index>(1, fit <= sharing || fit == all ? fit : fit / sharing * sharing);
}

Run::Run(const Experiment& e, Index heads, const InputsFor& inputs, const RecordingLimits& limits) {
    Profile profile;
    {
        Gpu gpu(e.gpu, count_mode, 1);
        gpu.listen(profile);
        run_program(gpu, *e.algorithm, e.problem, e.tiling, {});
    }
    counted_ = count(e);
    lines_ = profile.lines();
    record(heads, inputs, limits);
    add_up();
    player_ = std::make_unique<Player>(trace());
    seek(0);
}

void Run::record(Index heads, const InputsFor& inputs, const RecordingLimits& limits) {
    const Experiment& e = experiment();
    recorded_ = first_heads(e.problem, heads);
    const Index all = e.problem.batch_heads(), shown = recorded_.batch_heads();
    if (shown < all)
        shortened_ = (shown == 1 ? "Shown: head 1 of " : "Shown: heads 1-" + std::to_string(shown) + " of ") +
                     std::to_string(all) + ". The others do the same on other data.";
    const bool small = counted_.counters.matmul_flops / all * shown <= limits.matmul_flops &&
                       estimated_values(counted_) / all * shown <= limits.value_bytes;
    if (small && inputs) {
        inputs_ = inputs(recorded_);
        if (record_numbers(limits)) return;
    }
    record_shapes(limits);
}

/// Records every thread block on real numbers; false, with nothing recorded, if that outgrows the limits.
bool Run::record_numbers(const RecordingLimits& limits) {
    const Experiment& e = experiment();
    Gpu gpu(e.gpu, numeric_mode, 1);
    Trace trace(gpu, {.max_events = limits.events, .max_value_bytes = 4 * limits.value_bytes});
    gpu.listen(trace);
    try {
        run_program(gpu, *e.algorithm, recorded_, e.tiling, inputs_);
    } catch (const RunError&) {
        inputs_.clear();
        return false;
    }
    schedule_.emplace(std::move(trace), e.gpu.sms);
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
            run_program(gpu, *e.algorithm, recorded_, e.tiling, {});
        } catch (const RunError&) {
            cut = true;
        }
        return trace;
    };
    Trace one = recording(1);
    Index most = 1;
    for (const LaunchInfo& l : counted_.launches) most = std::max<Index>(most, l.thread_blocks);
    const Index blocks = cut ? 1 : std::clamp<Index>(limits.events / (2 * std::max<Index>(1, one.size())), 1, most);
    if (blocks > 1) one = recording(blocks);
    if (!shortened_.empty()) shortened_ += ' ';
    if (cut)
        shortened_ += "Too long to record: the first " + std::to_string(limits.events) + " events, without numbers.";
    else if (blocks < most)
        shortened_ += "Too large for numbers: shapes only, of the first " + std::to_string(blocks) +
                      " thread blocks of each launch.";
    else
        shortened_ += "Too large for numbers: shapes only.";
    schedule_.emplace(std::move(one), e.gpu.sms);
}

/// Bytes and seconds by tick, and keyframes of the costs by line.
void Run::add_up() {
    const Experiment& e = experiment();
    Bytes read = 0, write = 0;
    double time = 0;
    hbm_read_ = hbm_write_ = {0};
    seconds_ = {0};
    LineCosts lines;
    for (Index tick = 1; tick <= ticks(); ++tick) {
        const Index first = schedule_->steps_after(tick - 1), last = schedule_->steps_after(tick);
        // A tick takes as long as the slowest of its SMs.
        Count busy = 0;
        for (Index s = first; s < last; ++s) busy += computes(trace()[s]);
        double slowest = 0;
        for (Index s = first; s < last; ++s) {
            const Event& event = trace()[s].event;
            if (lines.step % line_keyframe == 0) line_keyframes_.push_back(lines);
            read += event.cost.hbm_read, write += event.cost.hbm_write;
            slowest = std::max(slowest, tilescope::seconds(event.cost, e.gpu, e.problem.dtype, busy));
            lines.by_line[event.line] += event.cost;
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
        if (step.event.op == Op::launch || found == by_block.end() || !found->second) continue;
        found->second->steps.push_back(k);
        found->second->line = step.event.line;
    }
}

const std::map<std::uint16_t, Counters>& Run::line_costs() const {
    const Index now = schedule_->steps_after(tick());
    if (line_costs_.step > now || line_costs_.step / line_keyframe < now / line_keyframe)
        line_costs_ = line_keyframes_[std::min(static_cast<std::size_t>(now / line_keyframe),
                                               line_keyframes_.size() - 1)];
    for (; line_costs_.step < now; ++line_costs_.step) {
        const Event& e = trace()[line_costs_.step].event;
        line_costs_.by_line[e.line] += e.cost;
    }
    return line_costs_.by_line;
}

const Step* Run::operation(const SmState& sm) const {
    if (sm.steps.empty()) return nullptr;
    const Step& last = trace()[sm.steps.back()];
    switch (last.event.op) {
        case Op::load:
        case Op::store:
        case Op::matmul:
        case Op::map:
        case Op::reduce: return &last;
        default: return nullptr;
    }
}

TileData Run::values_before(const TileState& tile) const {
    const auto earlier =
        trace().find_backward(tile.written, [&](const Step& s) { return s.event.out == tile.tile && s.values > 0; });
    return earlier ? trace().values(trace()[*earlier]) : TileData{};
}

bool Run::on_sm(const Step& step, Index sm) const {
    if (step.event.op == Op::launch) return true;
    const auto& all = schedule_->placements();
    const auto found = std::partition_point(all.begin(), all.end(), [&](const Placement& p) {
        return std::pair(p.launch, p.block) < std::pair(step.launch, step.event.block);
    });
    return found != all.end() && found->block == step.event.block && found->sm == sm;
}

const std::vector<double>& Run::reference(Index slice) const {
    std::vector<double>& kept = reference_[slice];
    if (kept.empty()) kept = reference_rows(algorithm().family, recorded_, inputs_, slice, {0, recorded_.seq_q});
    return kept;
}

std::vector<ErrorPoint> Run::error_so_far(const SmState& sm) const {
    if (!has_values() || !sm.block) return {};
    auto [kept, is_new] = errors_.try_emplace({sm.block->launch, sm.block->block});
    std::vector<ErrorPoint>& points = kept->second;
    if (is_new) {
        const std::string_view output = output_of(algorithm());
        const auto mine = [&](const Step& s) {
            return s.launch == sm.block->launch && s.event.block == sm.block->block;
        };
        const Index first = schedule_->steps_after(sm.block->first_tick),
                    last = schedule_->steps_after(sm.block->last_tick);
        // The rows are those that the block stores.
        std::optional<Region> rows;
        std::map<TileId, Index> sums;  // live columns, by tile: the step that wrote them
        const auto find_rows = [&](Index from) {
            const auto store = trace().find_forward(from, [&](const Step& s) {
                return mine(s) && s.event.op == Op::store && trace().tensors()[s.event.region.tensor].name == output;
            });
            if (store && *store < last) rows = trace()[*store].event.region;
        };
        for (Index k = first; k < last; ++k) {
            const Step& s = trace()[k];
            if (!mine(s) || s.event.out == no_tile) continue;
            const RecordedTile& t = trace().tiles()[s.event.out];
            if (s.event.op == Op::release) {
                sums.erase(s.event.out);
                continue;
            }
            if (t.cols == 1 && s.values > 0) sums[s.event.out] = k;
            if (t.name != output || s.values == 0 || s.event.op == Op::alloc) continue;
            find_rows(k);
            if (!rows || rows->rows.size != t.rows || rows->cols.size != t.cols) continue;
            const std::vector<double>& want = reference(rows->slice);
            const auto at = static_cast<std::size_t>(rows->rows.begin * t.cols);
            const TileData now = trace().values(s);
            double best = squares_of_difference(now, want.data(), at, nullptr, t.cols);
            for (const auto& [tile, written] : sums)
                if (trace().tiles()[tile].rows == t.rows)
                    best = std::min(best, squares_of_difference(now, want.data(), at,
                                                                trace().values(trace()[written]).data(), t.cols));
            points.push_back({schedule_->tick_of(k), std::sqrt(best / static_cast<double>(now.size()))});
        }
    }
    const auto end = std::partition_point(points.begin(), points.end(),
                                          [&](const ErrorPoint& p) { return p.tick <= tick(); });
    return {points.begin(), end};
}

Run::StoredError Run::stored_error() const {
    StoredError e;
    const std::string_view output = output_of(algorithm());
    e.of = recorded_.batch_heads() * recorded_.seq_q;
    if (!has_values()) return e;
    double sum = 0;
    Index elements = 0;
    TensorId id = 0;
    for (const RecordedTensor& t : trace().tensors()) {
        const TensorState& state = player_->state().tensors[id++];
        if (t.name != output) continue;
        const std::vector<float>& now = player_->values(static_cast<TensorId>(id - 1));
        for (const Touched& r : state.touched) {
            if (r.stores == 0) continue;
            const std::vector<double>& want = reference(r.region.slice);
            for (Index row = r.region.rows.begin; row < r.region.rows.end(); ++row) {
                const auto at = static_cast<std::size_t>(row * t.cols + r.region.cols.begin);
                const auto slice = static_cast<std::size_t>(r.region.slice * t.rows * t.cols);
                sum += squares_of_difference(
                    TileData(now).subspan(slice + at, static_cast<std::size_t>(r.region.cols.size)), want.data(), at,
                    nullptr, t.cols);
            }
            elements += r.region.rows.size * r.region.cols.size;
            if (r.region.cols.begin == 0) e.rows += r.region.rows.size;
        }
    }
    if (elements > 0) e.rms = std::sqrt(sum / static_cast<double>(elements));
    return e;
}

}  // namespace tilescope::gui
