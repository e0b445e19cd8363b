#include "show/run/run.hpp"

#include <limits>
#include <numeric>

#include "core/machine/mistakes.hpp"
#include "core/machine/out_of_chip_memory.hpp"
#include "core/text/message.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

constexpr Index line_keyframe = 512;  // steps

/// Completes the recording at once.
Recorder&& finished(Recorder&& recording) {
    while (!recording.work(nullptr)) {
    }
    return std::move(recording);
}

}  // namespace

Run::Run(Counted counted, Index heads, const InputsFor& inputs, const RecordingLimits& limits)
    : Run(counted, finished(Recorder(counted, heads, inputs, limits))) {}

Run::Run(Counted counted, Recorder&& recording)
    : counted_(std::move(counted)),
      recorded_(recording.problem()),
      inputs_(recording.inputs()),
      shortened_(recording.shortened()),
      failure_(recording.failure()) {
    schedule(std::move(recording).take(), experiment().gpu.sms);
    if (failure_) tell_failure();
    add_up();
    std::vector<Index> heads;
    for (const Placement& p : schedule_->placements()) heads.push_back(head_of(p));
    heads_ = std::move(heads);
    if (has_values()) look_ahead();
    player_ = std::make_unique<Player>(trace());
    seek(0);
}

/// Puts thread blocks on the SMs that they have in the whole run, where the whole run is modelled.
void Run::schedule(Trace recording, Index sms) {
    const auto stays = [this](Index launch, Index block) -> std::optional<Stay> {
        const auto which = static_cast<std::size_t>(launch);
        if (which >= gantt().launches().size()) return std::nullopt;
        const GanttStay* stay = gantt().launches()[which].stay_of(block);
        if (!stay) return std::nullopt;
        return Stay{static_cast<std::uint32_t>(stay->sm), stay->from, stay->to};
    };
    schedule_.emplace(std::move(recording), sms, stays);
}

void Run::look_ahead() {
    reference_ = std::make_unique<ReferenceAhead>(*algorithm().computes, recorded_, inputs_);
    reference_->job().begin();
}

/// The last tick that the thread block ends on this line. Where the first operation on the line fails, no tick does:
/// the result is the last tick of the block or, where the block was not recorded, of the run.
Index Run::last_tick_of(const Place& at) const {
    const Placement* p = schedule_->placement_of(at.launch, at.block);
    if (!p) return ticks();
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
    shortened_ = text::sentences({shortened_, message("run.fails", std::to_string(failure_->tick), failure_->message)});
}

/// Bytes by tick, keyframes of the costs by line, and the first or last steps of tiles and regions.
class Run::Totals final : public StepReader {
  public:
    explicit Totals(Run& to) : to_(to) {
        to_.hbm_read_.assign(static_cast<std::size_t>(to_.ticks()) + 1, 0);
        to_.hbm_sent_ = to_.hbm_read_;
        to_.made_.assign(to_.trace().tiles().size(), -1);
        to_.traffic_.assign(to_.trace().tensors().size(), {});
        for (const RecordedTensor& t : to_.trace().tensors()) to_.last_stores_.emplace_back(t.regions.size(), -1);
    }
    void mark(const Reading& r) override { step(r); }
    void step(const Reading& r) override {
        const Event& e = r.step.event;
        if (r.number % line_keyframe == 0) to_.line_keyframes_.push_back({r.number, by_line_});
        by_line_[e.line] += e.cost;
        to_.recorded_counters_ += e.cost;
        to_.hbm_read_[static_cast<std::size_t>(r.tick)] += e.cost.hbm_read;
        to_.hbm_sent_[static_cast<std::size_t>(r.tick)] += e.cost.hbm_sent();
        if (e.moves_data()) to_.traffic_[e.region.tensor] += Traffic::of(e.cost);
        if (e.kind() == Kind::store)
            to_.last_stores_[e.region.tensor][static_cast<std::size_t>(r.step.region)] = r.number;
        if (e.out != no_tile && to_.made_[e.out] < 0) to_.made_[e.out] = r.number;
    }

  private:
    Run& to_;
    std::map<std::uint16_t, Counters> by_line_;
};

void Run::add_up() {
    const bool attention = algorithm().computes->features.has(Feature::head_dims);
    Totals totals(*this);
    contents_ = Contents(trace(), attention ? "P" : algorithm().computes->output);
    read_steps(*schedule_, {&totals, &contents_});
    for (std::vector<Bytes>* bytes : {&hbm_read_, &hbm_sent_})
        std::partial_sum(bytes->begin(), bytes->end(), bytes->begin());
    if (line_keyframes_.empty()) line_keyframes_.push_back({});
    spread_time();
}

/// When the last recorded thread block of a launch has ended, in microseconds. Where no stays are known, this is
/// estimated by the waves that the recorded blocks fill.
double Run::recorded_until(std::size_t launch) const {
    const GanttLaunch& l = gantt().launches()[launch];
    const auto recorded = schedule_->placements_of(static_cast<Index>(launch));
    if (l.stays.empty()) {
        const Count waves = ceil_div(static_cast<Count>(recorded.size()), gantt().sms() * l.slots());
        return l.begin + (l.to - l.begin) * std::min(1.0, static_cast<double>(waves) / l.time.waves);
    }
    double until = l.begin;
    for (const Placement& p : recorded)
        if (const GanttStay* stay = l.stay_of(p.block)) until = std::max(until, stay->to);
    return until;
}

/// A launch begins with its first tick; its time is spread evenly over its other ticks.
void Run::spread_time() {
    seconds_.assign(static_cast<std::size_t>(ticks()) + 1, 0);
    seconds_for_all_ = seconds_;
    if (gantt().empty()) return;
    for (Index tick = 1; tick <= ticks();) {
        const Index first = tick, launch = trace()[schedule_->steps_after(tick - 1)].launch;
        while (tick <= ticks() && trace()[schedule_->steps_after(tick - 1)].launch == launch) ++tick;
        const auto which = static_cast<std::size_t>(launch);
        const GanttLaunch& l = gantt().launches()[which];
        const double until = recorded_until(which);
        for (Index t = first; t < tick; ++t) {
            const double part =
                static_cast<double>(t - first) / static_cast<double>(std::max<Index>(1, tick - 1 - first));
            seconds_[static_cast<std::size_t>(t)] = 1e-6 * (l.begin + part * (until - l.begin));
            seconds_for_all_[static_cast<std::size_t>(t)] = 1e-6 * (l.begin + part * (l.to - l.begin));
        }
    }
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
        if (t.within != no_tile) continue;  // within an earlier tile, whose memory is counted already
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

bool Run::has_whole_heads() const {
    return hbm(ticks()) * experiment().problem.batch_heads() == counted().counters.hbm() * recorded_.batch_heads();
}

Index Run::head_of(const Placement& p) const {
    const std::vector<Placement>& all = schedule_->placements();
    if (!heads_.empty() && &p >= all.data() && &p < all.data() + all.size())
        return heads_[static_cast<std::size_t>(&p - all.data())];
    return heads_of(p).begin;
}

Span Run::heads_of(const Placement& p) const {
    const auto& axes = trace().launches()[static_cast<std::size_t>(p.launch)].axes;
    const RecordedBlock& block = trace().block(p.launch, p.block);
    for (std::size_t k = 0; k < axes.size(); ++k)
        if (axes[k].name == "head") {
            const Index of_each = std::max<Index>(1, recorded_.batch_heads() / axes[k].count);
            return {block.at[k].begin * of_each, of_each};
        }
    return {0, 1};
}

bool Run::on_sm(const Step& step, Index sm) const {
    if (step.kind() == Kind::launch) return true;
    const Placement* p = schedule_->placement_of(step.launch, step.event.block);
    return p && p->sm == sm;
}

}  // namespace tilescope::show
