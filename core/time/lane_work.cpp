// Of LaneActs: what warps do on CUDA cores.
#include <algorithm>

#include "core/time/lane_acts.hpp"

namespace tilescope {
namespace {

/// Whether the tile has more than one column.
bool wide(const TileInfo& t) { return t.cols > 1; }

}  // namespace

void LaneActs::work(Warpgroup w, const Event& e) {
    if (e.operation->operates == Operates::transposed) return transpose(w, e);
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
        round(w, e.a(), out.dtype);
        act = passes_[held(w, e.a()).pass].act;
    } else {
        if (s.at != tile) new_pass(w, tile, e.operation->name);
        s.at = tile;
        const std::size_t pass = held(w, tile).pass;
        grow(w, pass, prices_.of(e, info(tile), lane_of(w).part));
        act = passes_[pass].act;
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

/// From a tile in shared memory into a slot of another ring.
void LaneActs::transpose(Warpgroup w, const Event& e) {
    const TileInfo& out = info(e.out);
    hear_made(w, e.a());
    RingState& ring = ring_of(e.out);
    wait_for_slot(w, ring, out.name);
    freed_[e.out] = fill_slot(ring);
    const double bytes = lane_of(w).part * lane_of(w).cycles * static_cast<double>(out.bytes());
    const double cycles = bytes / c_.transposes;
    const std::size_t made = arrival({.says = LaneFlag::Says::made, .name = out.name}, Awaited::work);
    arrivals_[made].at_barrier = true;
    held(w, e.out).made = made;
    held(w, e.a()).used.act = add(w, {.kind = Act::Kind::work,
                                      .what = e.operation->name,
                                      .cycles = cycles,
                                      .flag = arrivals_[made].flag,
                                      .unit = Unit::sram,
                                      .beside = c_.beside_transposes * cycles});
}

/// Rounds a tile of registers to 16 or 8 bits, in the last pass over it.
void LaneActs::round(Warpgroup w, TileId from, Dtype to) {
    if (held(w, from).pass == none) new_pass(w, from, "round");
    grow(w, held(w, from).pass, prices_.of_rounding(info(from), to, lane_of(w).part));
}

void LaneActs::new_pass(Warpgroup w, TileId id, const char* what) {
    passes_.push_back({add(w, {.kind = Act::Kind::work, .what = what})});
    held(w, id).pass = passes_.size() - 1;
}

void LaneActs::grow(Warpgroup w, std::size_t pass, const TileWork& more) {
    passes_[pass].work.add(more);
    prices_.set(acts(w)[passes_[pass].act], passes_[pass].work, lane_of(w).cycles);
}

}  // namespace tilescope
