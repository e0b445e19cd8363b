#include "core/time/lane_programs.hpp"

#include <algorithm>

#include "core/text/message.hpp"

namespace tilescope {
using text::message;
namespace {

constexpr double in_pairs = 0.5;  // instructions per element rounded to 16 bits: an instruction rounds two elements

double& of_unit(PerUnit& busy, Unit u) { return busy[static_cast<std::size_t>(u)]; }
double elements_of(const TileInfo& t) { return static_cast<double>(t.rows * t.cols); }
/// Whether the tile has more than one column.
bool wide(const TileInfo& t) { return t.cols > 1; }

}  // namespace

LanePrograms::LanePrograms(const Rates& rates, const LaneConstants& constants, Index block)
    : rates_(rates),
      c_(constants),
      block_(block),
      machine_{c_.bus, c_.latency, true, {}},
      no_lane_(message("lanes.thread_block")) {}

void LanePrograms::begin(const LoopMark&) { loops_.push_back(-1); }
void LanePrograms::turn(const TurnMark& mark) { loops_.back() = mark.index; }
void LanePrograms::end(const LoopMark&) { loops_.pop_back(); }

/// Closes the ring of turns: each warpgroup hands on to the next one, and the last to the first.
void LanePrograms::end(const BlockMark&) {
    std::vector<Warpgroup> round;
    for (Warpgroup w = 0; w < states_.size(); ++w) {
        end_turn(w);
        if (states_[w].turn != no_flag) round.push_back(w);
    }
    for (std::size_t k = 0; k < round.size(); ++k)
        for (Act& a : acts(round[k]))
            if (a.kind == Act::Kind::set && a.flag == states_[round[k]].turn)
                a.flag = states_[round[(k + 1) % round.size()]].turn;
    if (!round.empty())
        acts(round[0]).insert(acts(round[0]).begin(), {.kind = Act::Kind::set, .flag = states_[round[0]].turn});
}

void LanePrograms::on(const Event& e, TileData) {
    if (e.out != no_tile && e.tile && tiles_.find(e.out) == tiles_.end())
        tiles_.emplace(e.out, OnChip{*e.tile, {}, {}}).first->second.info.name = keep(e.tile->name);
    if (e.kind() == Kind::release) return give_back(e.out);
    if (!works(e.kind()) || e.operation->access == Access::in_passing) return;
    const LaneOf& lane = lane_of(e);
    if (e.kind() == Kind::load) return load(lane, e);
    for (const Warpgroup w : lane.groups) {
        if (e.kind() == Kind::product)
            product(w, e);
        else if (e.kind() == Kind::store)
            store(w, e);
        else
            work(w, e);
    }
}

const LanePrograms::LaneOf& LanePrograms::lane_of(const Event& e) {
    const LaneSpec spec = e.lane ? e.lane->spec : LaneSpec{};
    const std::string name = e.lane ? e.lane->name : no_lane_;
    for (const LaneOf& l : lanes_)
        if (l.name == name) return l;
    const Index groups = std::max<Index>(1, spec.warps / warps_of_warpgroup);
    LaneOf& lane = lanes_.emplace_back();
    lane.name = name, lane.turns = spec.turns, lane.part = 1 / static_cast<double>(groups);
    lane.cycles = std::max(1.0, static_cast<double>(warps_of_warpgroup) / static_cast<double>(spec.warps));
    for (Index g = 0; g < groups; ++g) {
        lane.groups.push_back(programs_.size());
        programs_.push_back({groups == 1 ? name : name + ' ' + std::to_string(g + 1), {}});
        states_.push_back({&lane});
        if (lane.turns) states_.back().turn = flag(message("lanes.turn_of", programs_.back().name));
    }
    return lane;
}

Flag LanePrograms::flag(std::string name) {
    machine_.flags.push_back(std::move(name));
    return static_cast<Flag>(machine_.flags.size() - 1);
}

LanePrograms::Arrives LanePrograms::arrival(std::string name, bool of_product) {
    if (step() >= 0) name = message("lanes.of_step", name, std::to_string(step()));
    return std::make_shared<Arrival>(Arrival{flag(std::move(name)), of_product});
}

/// Returns the number of the act.
std::size_t LanePrograms::add(Warpgroup w, Act act) {
    State& s = states_[w];
    if (step() >= 0 && s.told != step()) acts(w).push_back({.kind = Act::Kind::mark, .step = s.told = step()});
    act.step = std::max<Index>(step(), 0);
    acts(w).push_back(act);
    return acts(w).size() - 1;
}

void LanePrograms::hear(Warpgroup w, Arrival& a, const char* what) {
    if (!a.heard.insert(w).second) return;
    add(w, {.kind = Act::Kind::wait, .what = what, .flag = a.flag});
    if (a.of_product) add(w, {.kind = Act::Kind::pass, .what = what, .cycles = c_.notices});
}

/// Waits for a tile: in registers only for the part that this warpgroup made, in shared memory for all parts.
void LanePrograms::hear_made(Warpgroup w, TileId id) {
    OnChip& t = tiles_.at(id);
    for (const auto& [by, made] : t.made)
        if (by == w || t.info.space == Space::sram) hear(w, *made, t.info.name);
}

void LanePrograms::hear_readers(Warpgroup w, TileId id) {
    OnChip& t = tiles_.at(id);
    if (const auto use = t.used.find(w); use != t.used.end() && use->second.by) hear(w, *use->second.by, t.info.name);
}

void LanePrograms::needs_result(Warpgroup w, TileId id) {
    const OnChip& t = tiles_.at(id);
    if (const auto made = t.made.find(w); made != t.made.end() && states_[w].of_turn.count(made->second) > 0)
        end_turn(w);
    hear_made(w, id);
}

void LanePrograms::note_use(Warpgroup w, TileId id, std::size_t act, Arrives by) {
    tiles_.at(id).used[w] = {act, std::move(by)};
}

void LanePrograms::load(const LaneOf& by, const Event& e) {
    OnChip& t = tiles_.at(e.out);
    for (const Warpgroup w : by.groups) {
        if (const auto slot = slots_.find({t.info.within, t.info.slot}); slot != slots_.end())
            add(w, {.kind = Act::Kind::wait,
                    .what = t.info.name,
                    .flag = slot->second.first,
                    .count = slot->second.second});
        t.made[w] = arrival(t.info.name, false);
        add(w, {.kind = Act::Kind::load,
                .what = t.info.name,
                .flag = t.made[w]->flag,
                .bytes = by.part * static_cast<double>(e.cost.hbm_read)});
    }
}

void LanePrograms::product(Warpgroup w, const Event& e) {
    State& s = states_[w];
    const TileInfo &out = tiles_.at(e.out).info, &a = tiles_.at(e.a()).info;
    for (const TileId id : {e.a(), e.b()}) hear_made(w, id);
    if (const auto made = tiles_.at(e.out).made.find(w); made != tiles_.at(e.out).made.end())
        if (!made->second->of_product) hear_made(w, e.out);
    if (a.space == Space::registers && size_of(a.dtype) > size_of(e.math)) {
        Cost rounding{.instructions = in_pairs * s.lane->part * elements_of(a)};
        of_unit(rounding.busy, Unit::alu) = rounding.instructions / rates_.half;
        if (s.passes.count(e.a()) == 0) s.passes[e.a()] = {add(w, {.kind = Act::Kind::work, .what = "round"})};
        grow(w, s.passes[e.a()], rounding);
    }
    if (s.lane->turns) take_turn(w);
    const Arrives done = arrival(message("lanes.product_of", out.name, programs_[w].name), true);
    const bool lone = out.cols >= c_.lone_cols && a.space == Space::registers;
    const std::size_t act = add(w, {.kind = Act::Kind::product,
                                    .what = out.name,
                                    .cycles = s.lane->part * static_cast<double>(e.cost.matmul_flops) / c_.tensor,
                                    .flag = done->flag,
                                    .lone = lone ? c_.lone : 1});
    tiles_.at(e.out).made[w] = done;
    for (const TileId id : {e.a(), e.b()}) note_use(w, id, act, done);
    if (!s.lane->turns) return;
    s.of_turn.insert(done);
    s.hands_on = add(w, {.kind = Act::Kind::set});
}

void LanePrograms::take_turn(Warpgroup w) {
    State& s = states_[w];
    if (s.hands_on) return;
    add(w, {.kind = Act::Kind::wait, .what = "turn", .flag = s.turn, .count = ++s.turns});
    add(w, {.kind = Act::Kind::pass, .what = "turn", .cycles = c_.barrier});
}

void LanePrograms::end_turn(Warpgroup w) {
    State& s = states_[w];
    if (s.hands_on) acts(w)[*s.hands_on].flag = s.turn;
    s.hands_on.reset(), s.of_turn.clear();
}

void LanePrograms::work(Warpgroup w, const Event& e) {
    State& s = states_[w];
    const TileInfo& out = tiles_.at(e.out).info;
    const bool reduces = e.kind() == Kind::reduce && wide(tiles_.at(e.a()).info);
    const bool keeps_unheard =
        std::any_of(e.reads.begin(), e.reads.end(), [&](const Operand& o) { return s.unheard.count(o.tile) > 0; });
    const std::size_t before = acts(w).size();
    for (const TileId id : {e.out, e.a(), e.b()})
        if (id != no_tile) needs_result(w, id);
    hear_readers(w, e.out);
    if (acts(w).size() > before) s.at = no_tile;
    if (!reduces && !wide(out)) {
        if (keeps_unheard) s.unheard.insert(e.out);
        return;
    }

    const TileId tile = reduces ? e.a() : e.out;
    if (keeps_unheard) {
        add(w, {.kind = Act::Kind::work, .what = "shuffle", .cycles = c_.shuffles * s.lane->cycles});
        s.unheard.clear();
        s.at = no_tile;
    }
    if (s.at != tile) s.passes[tile] = {add(w, {.kind = Act::Kind::work, .what = e.operation->name})};
    s.at = tile;
    Pass& pass = s.passes[tile];
    grow(w, pass, cost_of_work(s, e, tiles_.at(tile).info));
    if (reduces) s.unheard.insert(e.out);
    for (const TileId id : {e.out, e.a(), e.b()})
        if (id != no_tile) note_use(w, id, pass.act);
    if (out.space == Space::sram) {
        Act& act = acts(w)[pass.act];
        const Arrives made = arrival(out.name, false);
        if (act.flag == no_flag) act.flag = made->flag;
        made->flag = act.flag, made->heard.insert(w);
        tiles_.at(e.out).made[w] = made;
    } else {
        tiles_.at(e.out).made.erase(w);
    }
}

LanePrograms::Cost LanePrograms::cost_of_work(const State& s, const Event& e, const TileInfo& tile) const {
    Cost c;
    const double part = s.lane->part, elements = part * elements_of(tile);
    const double exps = part * static_cast<double>(e.cost.exps), flops = part * static_cast<double>(e.cost.other_flops);
    const double integers = static_cast<double>(e.operation->price.integers) * elements;
    if (takes_maximum(e.operation->effect)) {
        c.instructions = elements;
        of_unit(c.busy, Unit::alu) = elements / rates_.half;
    } else {
        c.instructions = exps + flops + integers;
        of_unit(c.busy, Unit::exp) = exps / rates_.exp;
        of_unit(c.busy, Unit::fma) = flops / rates_.fma;
        of_unit(c.busy, Unit::alu) = integers / rates_.half;
    }
    if (tile.space == Space::sram && e.kind() != Kind::reduce)
        of_unit(c.busy, Unit::sram) = part * static_cast<double>(tile.bytes()) / rates_.sram;
    return c;
}

/// A pass takes as long as its busiest unit. A pass of full-rate instructions alone also takes cycles from the tensor
/// cores.
void LanePrograms::grow(Warpgroup w, Pass& pass, const Cost& more) {
    const double sigma = c_.sigma * states_[w].lane->cycles;
    for (std::size_t u = 0; u < unit_count; ++u) pass.busy[u] += more.busy[u];
    pass.instructions += more.instructions / rates_.fma;
    const auto most = std::max_element(pass.busy.begin(), pass.busy.end());
    const auto unit = static_cast<Unit>(most - pass.busy.begin());
    const bool dense = unit == Unit::fma && of_unit(pass.busy, Unit::exp) == 0 && of_unit(pass.busy, Unit::alu) == 0;
    Act& act = acts(w)[pass.act];
    act.unit = unit;
    act.cycles = sigma * *most;
    act.beside = sigma * pass.instructions * (dense ? c_.beside_dense : c_.beside);
    act.steals = dense ? sigma * pass.instructions * c_.steals : 0;
}

void LanePrograms::store(Warpgroup w, const Event& e) {
    const TileInfo& from = tiles_.at(e.a()).info;
    needs_result(w, e.a());
    states_[w].at = no_tile;
    const std::size_t act =
        add(w, {.kind = Act::Kind::pass,
                .what = e.operation->name,
                .cycles = states_[w].lane->part * static_cast<double>(from.bytes()) / rates_.sram + c_.barrier});
    note_use(w, e.a(), act);
}

void LanePrograms::give_back(TileId id) {
    const auto found = tiles_.find(id);
    if (found == tiles_.end()) return;
    const OnChip& t = found->second;
    if (t.info.space == Space::registers) {
        for (const auto& [w, use] : t.used) hear_readers(w, id);
    } else if (t.info.within != no_tile && t.used.empty()) {
        slots_.erase({t.info.within, t.info.slot});
    } else if (t.info.within != no_tile) {
        const Flag freed =
            flag(message("lanes.slot_of", std::to_string(t.info.slot), tiles_.at(t.info.within).info.name));
        for (const auto& [w, use] : t.used) {
            Act& last = acts(w)[use.act];
            const bool sets = last.kind == Act::Kind::product || last.kind == Act::Kind::work;
            if (sets && last.frees == no_flag)
                last.frees = freed;
            else
                add(w, {.kind = use.by ? Act::Kind::product : Act::Kind::set, .flag = freed});
        }
        slots_[{t.info.within, t.info.slot}] = {freed, static_cast<Index>(t.used.size())};
    }
    tiles_.erase(found);
}

}  // namespace tilescope
