#include "show/stage/lanes.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/machine/sorted.hpp"

namespace tilescope::show {
namespace {

LaneDoing doing_of(Act::Kind kind) {
    switch (kind) {
        case Act::Kind::product:
            return LaneDoing::product;
        case Act::Kind::load:
            return LaneDoing::load;
        case Act::Kind::work:
            return LaneDoing::work;
        case Act::Kind::wait:
        case Act::Kind::idle:
            return LaneDoing::wait;
        case Act::Kind::set:
            return LaneDoing::hand_on;
        default:
            return LaneDoing::busy;
    }
}

const Act& act_of(std::span<const LaneProgram> lanes, const LanePhase& p) { return lanes[p.lane].acts[p.act]; }

/// What the lane waits for in this act, or waited for before it and takes notice of.
Awaited awaited_in(const LaneProgram& lane, std::size_t act) {
    const std::string what = lane.acts[act].what;
    while (act > 0 && lane.acts[act].kind == Act::Kind::pass && lane.acts[act - 1].what == what) --act;
    return lane.acts[act].awaited;
}

/// The length of the part of a segment that lies between 0 and `to`.
double within(const LaneSegment& s, double to) { return std::max(0.0, std::min(s.to, to) - std::max(s.from, 0.0)); }

/// How many cycles from 0 to `to` at least one of the intervals covers.
double covered(std::vector<std::pair<double, double>> intervals, double to) {
    std::sort(intervals.begin(), intervals.end());
    double all = 0, until = 0;
    for (const auto& [from, end] : intervals) {
        const double begin = std::max(from, until), last = std::min(end, to);
        if (last > begin) all += last - begin;
        until = std::max(until, last);
    }
    return all;
}

}  // namespace

bool SlotStay::in_use(std::span<const LaneSegment> segments, double cycle) const {
    return std::any_of(readers.begin(), readers.end(), [&](std::uint32_t r) { return segments[r].at(cycle); });
}

const SlotStay* LaneSlot::stay_at(double cycle) const {
    const auto later = std::find_if(stays.begin(), stays.end(), [&](const SlotStay& s) { return s.from > cycle; });
    return later == stays.begin() ? nullptr : &*std::prev(later);
}

LaneView::LaneView(std::span<const LaneProgram> lanes, const LanePlay& play, Index from_step, Index steps,
                   Index averaged) {
    name_lanes(lanes);
    add_segments(lanes, play);
    number_segments();
    std::vector<double> begins;
    const std::string* first = nullptr;
    for (const LaneSegment& s : segments_)
        if (s.doing == LaneDoing::product && !groups_.empty() && s.lane == groups_[0]) {
            if (!first) first = &s.what;
            if (s.what == *first) begins.push_back(s.from);
        }
    begins.push_back(play.end);
    const auto step = [&](Index k) { return begins[std::min(static_cast<std::size_t>(k), begins.size() - 1)]; };
    const double origin = step(from_step);
    cycles_ = step(from_step + steps) - origin;
    averaged_ = step(from_step + averaged) - origin;
    step_ = averaged_ / static_cast<double>(averaged);
    for (LaneSegment& s : segments_) s.from -= origin, s.to -= origin, s.sent -= origin, s.number -= from_step;
    find_slots(lanes, play);
    find_batons(lanes, play);
    find_rows();
}

void LaneView::name_lanes(std::span<const LaneProgram> lanes) {
    for (std::uint32_t l = 0; l < lanes.size(); ++l) {
        const auto& acts = lanes[l].acts;
        const bool computes = std::any_of(acts.begin(), acts.end(), [](const Act& a) {
            return a.kind == Act::Kind::product || a.kind == Act::Kind::work;
        });
        if (computes) groups_.push_back(l);
        names_.push_back(lanes[l].name);
    }
}

void LaneView::add_segments(std::span<const LaneProgram> lanes, const LanePlay& play) {
    std::vector<std::size_t> last(lanes.size(), 0);  // by lane: its last act within the loop
    Index turns = 0;
    for (const LanePhase& p : play.phases) turns = std::max(turns, p.step + 1);
    for (const LanePhase& p : play.phases)
        if (p.step + 1 == turns) last[p.lane] = std::max<std::size_t>(last[p.lane], p.act);
    segments_.reserve(play.phases.size());
    for (const LanePhase& p : play.phases) {
        const Act& act = act_of(lanes, p);
        const Index turn = p.step == 0 && p.act > last[p.lane] ? turns : p.step;
        segments_.push_back({doing_of(p.kind), p.lane, p.what, 0, turn, p.from, p.to, act.cycles, p.sent,
                             awaited_in(lanes[p.lane], p.act), p.by, act.unit});
    }
}

/// A lane's segments of one name have the same number while the turn is the same.
void LaneView::number_segments() {
    struct Last {
        Index turn, number;
    };
    std::map<std::tuple<std::uint32_t, LaneDoing, std::string>, Last> last;
    for (LaneSegment& s : segments_) {
        const auto [of, first] = last.try_emplace({s.lane, s.doing, s.what}, Last{s.turn, 0});
        if (!first && of->second.turn != s.turn) of->second = {s.turn, of->second.number + 1};
        s.number = of->second.number;
    }
    for (LaneSegment& s : segments_) s.once = last.at({s.lane, s.doing, s.what}).number == 0;
    for (LaneSegment& s : segments_)  // the number of what a wait is for
        if (s.doing == LaneDoing::wait && s.ended_by != no_segment && segments_[s.ended_by].what == s.what)
            s.number = segments_[s.ended_by].number, s.once = segments_[s.ended_by].once;
}

void LaneView::find_slots(std::span<const LaneProgram> lanes, const LanePlay& play) {
    std::map<std::pair<std::string, Index>, std::vector<std::uint32_t>> loads;
    std::map<Signal, std::vector<std::uint32_t>> readers;
    for (std::uint32_t k = 0; k < segments_.size(); ++k) {
        const Act& act = act_of(lanes, play.phases[k]);
        if (act.kind == Act::Kind::load && act.ring) loads[{act.ring, act.slot}].push_back(k);
        for (const Signal f : {act.flag, act.frees})
            if (f != no_signal && act.kind != Act::Kind::wait && act.kind != Act::Kind::load) readers[f].push_back(k);
    }
    for (const auto& [at, into] : loads) {
        LaneSlot& slot = slots_.emplace_back();
        slot.ring = at.first, slot.slot = at.second;
        for (std::size_t n = 0; n < into.size(); ++n) {
            const LaneSegment& load = segments_[into[n]];
            const double next = n + 1 < into.size() ? segments_[into[n + 1]].from : load.from + 1e12;
            SlotStay& stay = slot.stays.emplace_back();
            stay.what = load.what, stay.number = load.number;
            stay.from = load.from, stay.there = stay.until = load.to;
            for (const std::uint32_t r : readers[act_of(lanes, play.phases[into[n]]).place])
                if (segments_[r].from >= load.from && segments_[r].from < next) {
                    stay.readers.push_back(r);
                    stay.until = std::max(stay.until, segments_[r].to);
                }
        }
    }
}

void LaneView::find_batons(std::span<const LaneProgram> lanes, const LanePlay& play) {
    struct Of {
        std::size_t baton;
        std::uint32_t lane;
    };
    std::map<Signal, Of> turn_of;
    for (std::uint32_t l = 0; l < lanes.size(); ++l) {
        std::size_t known = 0;  // batons of this lane
        bool unnamed = false;   // the last one is for the next product
        for (const Act& a : lanes[l].acts) {
            if (a.kind == Act::Kind::wait && a.awaited == Awaited::turn &&
                turn_of.try_emplace(a.flag, Of{known, l}).second)
                if (++known > batons_.size()) batons_.emplace_back(), unnamed = true;
            if (unnamed && a.kind == Act::Kind::product) batons_.back().product = a.what, unnamed = false;
        }
    }
    for (std::size_t k = 0; k < segments_.size(); ++k) {
        const Act& act = act_of(lanes, play.phases[k]);
        if (act.kind != Act::Kind::set) continue;
        if (const auto turn = turn_of.find(act.flag); turn != turn_of.end())
            batons_[turn->second.baton].turns.push_back({segments_[k].to, turn->second.lane});
    }
}

void LaneView::find_rows() {
    std::vector<std::uint32_t> others;
    for (std::uint32_t l = 0; l < names_.size(); ++l)
        if (group_of(l) < 0) others.push_back(l);
    for (const std::uint32_t l : others) rows_.push_back({LaneRow::Kind::loads, l, {}});
    rows_.push_back({LaneRow::Kind::bus, no_segment, {}});
    rows_.push_back({LaneRow::Kind::tensor_cores, no_segment, {}});
    for (const std::uint32_t l : groups_) rows_.push_back({LaneRow::Kind::warpgroup, l, {}});
    const std::size_t bus = others.size(), tensor = bus + 1;
    for (std::uint32_t k = 0; k < segments_.size(); ++k) {
        const LaneSegment& s = segments_[k];
        if (s.doing == LaneDoing::hand_on || s.to <= s.from) continue;
        std::size_t row = s.doing == LaneDoing::load ? bus : tensor;
        if (s.doing != LaneDoing::load && s.doing != LaneDoing::product)
            row = static_cast<std::size_t>(
                std::find_if(rows_.begin(), rows_.end(), [&](const LaneRow& r) { return r.lane == s.lane; }) -
                rows_.begin());
        rows_[row].segments.push_back(k);
    }
    for (LaneRow& r : rows_)
        sort_stably(r.segments,
                    [&](std::uint32_t a, std::uint32_t b) { return segments_[a].from < segments_[b].from; });
}

int LaneView::group_of(std::uint32_t lane) const {
    const auto at = std::find(groups_.begin(), groups_.end(), lane);
    return at == groups_.end() ? -1 : static_cast<int>(at - groups_.begin());
}

SlotState LaneView::state_at(const LaneSlot& slot, double cycle) const {
    const SlotStay* const stay = slot.stay_at(cycle);
    if (!stay || cycle >= stay->until) return SlotState::empty;
    if (cycle < stay->there) return SlotState::loading;
    return stay->in_use(segments_, cycle) ? SlotState::in_use : SlotState::full;
}

const LaneSegment* LaneView::found_at(const LaneRow& row, double cycle) const {
    for (const std::uint32_t k : row.segments)
        if (segments_[k].at(cycle)) return &segments_[k];
    return nullptr;
}
const LaneSegment* LaneView::own_at(std::uint32_t lane, double cycle) const {
    for (const LaneRow& r : rows_)
        if (r.lane == lane) return found_at(r, cycle);
    return nullptr;
}
const LaneSegment* LaneView::product_at(double cycle) const {
    for (const LaneRow& r : rows_)
        if (r.kind == LaneRow::Kind::tensor_cores) return found_at(r, cycle);
    return nullptr;
}
bool LaneView::is_done(std::uint32_t lane, double cycle) const {
    return std::none_of(segments_.begin(), segments_.end(),
                        [&](const LaneSegment& s) { return s.lane == lane && s.to > cycle; });
}
const LaneView::Turn* LaneView::Baton::at(double cycle) const {
    const Turn* last = nullptr;
    for (const Turn& t : turns)
        if (t.at <= cycle) last = &t;
    return last;
}

LaneShares LaneView::shares() const {
    std::vector<std::pair<double, double>> products, exps, work, bus, none;
    for (const LaneSegment& s : segments_) {
        const std::pair at(s.from, s.to);
        if (s.doing == LaneDoing::product) products.push_back(at);
        if (s.doing == LaneDoing::work && s.on) work.push_back(at);
        if (s.doing == LaneDoing::work && s.on == Unit::exp) exps.push_back(at);
        if (s.doing == LaneDoing::load) bus.emplace_back(s.from, s.sent);
    }
    std::vector<std::pair<double, double>> either = products;
    either.insert(either.end(), work.begin(), work.end());
    const auto share = [&](const auto& all) { return covered(all, averaged_) / averaged_; };
    LaneShares of{share(products), share(exps), share(work), 0, share(bus)};
    of.both = of.tensor_cores + of.cuda_cores - share(either);
    return of;
}

std::vector<LaneTimes> LaneView::times() const {
    std::vector<LaneTimes> all;
    const double steps = averaged_ / step_;
    for (std::uint32_t l = 0; l < names_.size(); ++l) {
        LaneTimes t{l};
        for (const LaneSegment& s : segments_) {
            if (s.lane != l) continue;
            const double cycles = within(s, averaged_) / steps;
            if (s.doing == LaneDoing::product) t.products += cycles;
            if (s.doing == LaneDoing::work) t.work += cycles;
            if (s.doing == LaneDoing::busy) t.busy += cycles;
            if (s.doing == LaneDoing::wait) t.waits[static_cast<std::size_t>(s.awaited)] += cycles;
        }
        all.push_back(t);
    }
    return all;
}

/// In the order of the first warpgroup's step.
std::vector<LanePart> LaneView::parts() const {
    std::vector<LanePart> all;
    std::vector<double> times;
    for (const std::uint32_t lane : groups_)
        for (const LaneSegment& s : segments_) {
            const bool counts = s.doing == LaneDoing::product || s.doing == LaneDoing::work;
            if (!counts || s.lane != lane || s.from < 0 || s.from >= averaged_) continue;
            auto part = std::find_if(all.begin(), all.end(),
                                     [&](const LanePart& p) { return p.doing == s.doing && p.what == s.what; });
            if (part == all.end()) {
                part = all.insert(all.end(), {s.doing, s.what, 0, 0});
                times.push_back(0);
            }
            part->cycles += s.cycles(), part->alone += s.alone;
            ++times[static_cast<std::size_t>(part - all.begin())];
        }
    for (std::size_t k = 0; k < all.size(); ++k) all[k].cycles /= times[k], all[k].alone /= times[k];
    sort_stably(all, [](const LanePart& a, const LanePart& b) { return a.doing < b.doing; });
    return all;
}

LaneView lane_view(const lab::Experiment& experiment, Index steps) {
    constexpr Index played = 24, from = 8, averaged = 8;
    const lab::PlayedLanes lanes = lab::played_lanes(experiment, played);
    return {lanes.programs, lanes.play, from, steps, averaged};
}

void on_one_axis(std::span<LaneView> views) {
    double most = 0;
    for (const LaneView& v : views) most = std::max(most, v.cycles());
    for (LaneView& v : views) v.show_cycles(most);
}

}  // namespace tilescope::show
