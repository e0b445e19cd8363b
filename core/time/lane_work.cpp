// Of LaneActs: what warps do on CUDA cores.
#include <algorithm>

#include "core/time/lane_acts.hpp"

namespace tilescope {
namespace {

constexpr double in_pairs = 0.5;  // instructions per element rounded to 16 bits: an instruction rounds two elements

double& of_unit(PerUnit& busy, Unit u) { return busy[static_cast<std::size_t>(u)]; }
double elements_of(const TileInfo& t) { return static_cast<double>(t.rows * t.cols); }
/// Whether the tile has more than one column.
bool wide(const TileInfo& t) { return t.cols > 1; }

}  // namespace

void LaneActs::work(Warpgroup w, const Event& e) {
    State& s = states_[w];
    const TileInfo& out = info(e.out);
    const bool reduces = e.kind() == Kind::reduce && wide(info(e.a()));
    const auto is_unheard = [&](TileId id) {
        return std::find(s.unheard.begin(), s.unheard.end(), id) != s.unheard.end();
    };
    const bool keeps_unheard =
        std::any_of(e.reads.begin(), e.reads.end(), [&](const Operand& o) { return is_unheard(o.tile); });
    if (wide(out) && !reduces && e.operation->access == Access::update && is_as_made(w, e.out)) return;
    const std::size_t before = acts(w).size();
    for (const TileId id : {e.out, e.a(), e.b()})
        if (id != no_tile) needs_result(w, id);
    hear_readers(w, e.out);
    if (acts(w).size() > before) s.at = no_tile;
    if (!reduces && !wide(out)) {
        if (keeps_unheard && !is_unheard(e.out)) s.unheard.push_back(e.out);
        return;
    }
    if (keeps_unheard) shuffle(w);
    work_on(w, e, reduces ? e.a() : e.out);
    if (reduces && !is_unheard(e.out)) s.unheard.push_back(e.out);
}

/// Whether nothing has written the warpgroup's part of the tile since it was made: kernels do not rescale such zeros.
bool LaneActs::is_as_made(Warpgroup w, TileId id) {
    const Held& h = held(w, id);
    return h.made == none && h.pass == none && h.used.act == none;
}

void LaneActs::shuffle(Warpgroup w) {
    State& s = states_[w];
    add(w, {.kind = Act::Kind::work, .what = "shuffle", .cycles = c_.shuffles * lane_of(w).cycles});
    s.unheard.clear();
    s.at = no_tile;
}

/// `tile`: that whose elements are passed over.
void LaneActs::work_on(Warpgroup w, const Event& e, TileId tile) {
    State& s = states_[w];
    const TileInfo& out = info(e.out);
    const bool narrows = e.operation->effect == Effect::copy && out.space == Space::registers &&
                         info(e.a()).space == Space::registers && size_of(out.dtype) < size_of(info(e.a()).dtype);
    std::size_t act = none;
    if (narrows) {
        if (kernel_.rounds_late && s.product != none && !heard_[s.product * programs_.size() + w]) {
            hear(w, s.product, out.name);
            new_pass(w, e.a(), "round");
            s.at = no_tile;
        }
        round(w, e.a());
        act = passes_[held(w, e.a()).pass].act;
    } else {
        if (s.at != tile) new_pass(w, tile, e.operation->name);
        s.at = tile;
        Pass& pass = passes_[held(w, tile).pass];
        grow(w, pass, cost_of(lane_of(w), e, info(tile)));
        act = pass.act;
    }
    for (const TileId id : {e.out, e.a(), e.b()})
        if (id != no_tile) held(w, id).used = {act, none};
    held(w, e.out).made = none;
    if (out.space != Space::sram) return;
    const std::size_t made = arrival({.says = LaneFlag::Says::made, .name = out.name}, Awaited::work);
    Act& of_pass = acts(w)[act];
    if (of_pass.flag == no_signal) of_pass.flag = arrivals_[made].flag;
    arrivals_[made].flag = of_pass.flag, heard_[made * programs_.size() + w] = 1;
    held(w, e.out).made = made;
}

/// Rounds a tile of registers to 16 bits, in the last pass over it.
void LaneActs::round(Warpgroup w, TileId from) {
    if (held(w, from).pass == none) new_pass(w, from, "round");
    grow(w, passes_[held(w, from).pass], cost_of_rounding(lane_of(w), info(from)));
}

std::size_t LaneActs::new_pass(Warpgroup w, TileId id, const char* what) {
    passes_.push_back({add(w, {.kind = Act::Kind::work, .what = what})});
    return held(w, id).pass = passes_.size() - 1;
}

LaneActs::Cost LaneActs::cost_of_rounding(const Lane& lane, const TileInfo& tile) const {
    Cost c{.instructions = in_pairs * lane.part * elements_of(tile)};
    of_unit(c.busy, Unit::alu) = c.instructions / rates_.half;
    return c;
}

LaneActs::Cost LaneActs::cost_of(const Lane& lane, const Event& e, const TileInfo& tile) const {
    Cost c;
    const double elements = lane.part * elements_of(tile);
    const double exps = lane.part * static_cast<double>(e.cost.exps);
    const double flops = lane.part * static_cast<double>(e.cost.other_flops);
    const double integers = static_cast<double>(e.operation->price.integers) * elements;
    if (takes_maximum(e.operation->effect)) {
        c.instructions = elements;
        of_unit(c.busy, Unit::alu) = elements / rates_.half;
    } else {
        const double full_rate = flops + kernel_.unfused * exps;
        c.instructions = exps + full_rate + integers;
        of_unit(c.busy, Unit::exp) = exps / rates_.exp;
        of_unit(c.busy, Unit::fma) = full_rate / rates_.fma;
        of_unit(c.busy, Unit::alu) = integers / rates_.half;
    }
    if (tile.space == Space::sram && e.kind() != Kind::reduce)
        of_unit(c.busy, Unit::sram) = lane.part * static_cast<double>(tile.bytes()) / rates_.sram;
    return c;
}

/// Exponentials and shared memory hide the other instructions of a pass. The full-rate instructions of a warp and
/// those at half rate come one after the other. Full-rate ones alone also take cycles from the tensor cores.
void LaneActs::grow(Warpgroup w, Pass& pass, const Cost& more) {
    const double sigma = kernel_.sigma * lane_of(w).cycles;
    for (std::size_t u = 0; u < unit_count; ++u) pass.busy[u] += more.busy[u];
    pass.instructions += more.instructions / rates_.fma;
    const double exp = of_unit(pass.busy, Unit::exp), sram = of_unit(pass.busy, Unit::sram);
    const double fma = of_unit(pass.busy, Unit::fma), alu = of_unit(pass.busy, Unit::alu);
    const double most = std::max({exp, sram, fma + alu});
    const bool dense = most == fma && exp == 0 && alu == 0;
    Act& act = acts(w)[pass.act];
    act.unit = most == exp ? Unit::exp : most == sram ? Unit::sram : fma > alu ? Unit::fma : Unit::alu;
    act.cycles = sigma * most;
    act.beside = sigma * pass.instructions * (dense ? c_.beside_dense : c_.beside);
    act.steals = dense ? sigma * pass.instructions * c_.steals : 0;
}

}  // namespace tilescope
