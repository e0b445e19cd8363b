#include "core/time/lane_acts.hpp"

#include <algorithm>

#include "core/text/message.hpp"

namespace tilescope {
using text::message;
using Says = LaneFlag::Says;

LaneActs::LaneActs(const LaneRecord& record, const Rates& rates, const LaneConstants& constants,
                   const LanedKernel& kernel)
    : record_(record), rates_(rates), c_(constants), kernel_(kernel) {
    for (const RecordedLane& l : record.lanes()) add_lane(l, lanes_.size());
    for (const RecordedRing& r : record.rings()) {
        const Index slots = kernel.slots > 0 ? kernel.slots : r.slots * kernel.pieces;
        rings_.push_back({r.id, std::vector<Signal>(static_cast<std::size_t>(slots), no_signal)});
    }
    meetings_.resize(lanes_.size());
    close_round_of_turns();
}

void LaneActs::add_lane(const RecordedLane& of, std::size_t number) {
    const bool loads_itself = of.fills_ring && of.computes;
    const Index groups = std::max<Index>(1, of.spec.warps / warps_of_warpgroup);
    const std::string name = of.name.empty() ? message("lanes.thread_block") : of.name;
    const auto name_of_group = [&] {
        return of.multiplies && !of.name.empty() ? message("lanes.warpgroup", std::to_string(++warpgroups_)) : name;
    };
    Lane& lane = lanes_.emplace_back();
    lane.part = 1 / static_cast<double>(groups), lane.fills_ring = of.fills_ring,
    lane.meets = loads_itself && groups > 1;
    lane.turns = of.spec.turns && !lane.meets;  // who has the turn would meet those that wait for it
    lane.cycles = std::max(1.0, static_cast<double>(warps_of_warpgroup) / static_cast<double>(of.spec.warps));
    const auto add_program = [&](std::vector<Warpgroup>& to, std::string called) {
        to.push_back(programs_.size());
        programs_.push_back({std::move(called), {}});
        states_.push_back({number});
    };
    if (loads_itself) add_program(lane.loaders, message("lanes.copies_of", name));
    for (Index g = 0; g < groups; ++g) add_program(lane.groups, name_of_group());
    if (!loads_itself) lane.loaders = lane.groups;
}

/// Each warpgroup hands on to the next one, and the last to the first, which begins with the turn.
void LaneActs::close_round_of_turns() {
    std::vector<Warpgroup> round;
    for (const Lane& l : lanes_)
        if (l.turns) round.insert(round.end(), l.groups.begin(), l.groups.end());
    for (const Warpgroup w : round) {  // the flag of a second baton follows the first one's
        states_[w].turn = flag({.says = Says::turn, .name = "", .program = w});
        for (Index b = 1; b < kernel_.batons; ++b) flag({.says = Says::turn, .name = "", .program = w});
    }
    for (std::size_t k = 0; k < round.size(); ++k) states_[round[k]].next = states_[round[(k + 1) % round.size()]].turn;
    for (Index b = 0; b < kernel_.batons && !round.empty(); ++b)
        acts(round[0]).push_back({.kind = Act::Kind::set, .flag = states_[round[0]].turn + static_cast<Signal>(b)});
}

void LaneActs::add_tiles(Index tiles) {
    add_tile();
    // The first tile waits for no slot: the others have some more acts. Growing by doubling would write all twice.
    const auto reserve = [&](auto& all) { all.reserve(static_cast<std::size_t>(tiles + 1) * all.size()); };
    for (LaneProgram& l : programs_) reserve(l.acts);
    reserve(flags_), reserve(users_), reserve(arrivals_), reserve(heard_), reserve(for_slots_);
    for (Index t = 1; t < tiles; ++t) add_tile();
    for (const SlotWait& s : for_slots_) acts(s.of)[s.act].count = users_[acts(s.of)[s.act].flag];
}

void LaneActs::add_tile() {
    held_.assign(record_.tiles().size() * programs_.size(), {});
    freed_.assign(record_.tiles().size(), no_signal);
    place_.assign(record_.tiles().size(), none);
    passes_.clear();
    loaded_once_ = 0;
    storing_ = {no_signal, 0};
    for (const RecordedEvent& r : record_.events()) {
        if (r.step != step_)
            for (State& s : states_) s.products = 0;
        step_ = r.step;
        carry_out(r);
    }
    step_ = -1;
    for (Warpgroup w = 0; w < programs_.size(); ++w) {
        State& s = states_[w];
        for (const OnceLoaded& once : s.delayed) load_once(w, once);
        end_turn(w);
        acts(w).push_back({.kind = Act::Kind::end, .step = tile_});
        s.delayed.clear(), s.unheard.clear();
        s.told = -1, s.at = no_tile, s.filled = false;
    }
    stored_ = storing_;
    ++tile_;
}

void LaneActs::carry_out(const RecordedEvent& r) {
    const Event& e = r.event;
    if (e.kind() == Kind::release) return give_back(e.out);
    if (e.kind() == Kind::load) return load(r);
    for (const Warpgroup w : lanes_[r.lane].groups) {
        if (e.kind() == Kind::product)
            product(w, e);
        else if (e.kind() == Kind::store)
            store(w, e);
        else
            work(w, e);
    }
}

Signal LaneActs::flag(const LaneFlag& says) {
    flags_.push_back(says);
    flags_.back().step = step_, flags_.back().tile = tile_;
    users_.push_back(0);
    return static_cast<Signal>(flags_.size() - 1);
}

std::size_t LaneActs::arrival(const LaneFlag& says, Awaited awaited) {
    arrivals_.push_back({flag(says), awaited});
    heard_.resize(heard_.size() + programs_.size(), 0);
    return arrivals_.size() - 1;
}

/// The flag that every warpgroup of the lane sets when it comes to their next meeting.
Signal LaneActs::meeting(std::size_t lane, Index number) {
    const auto n = static_cast<std::size_t>(number);
    while (meetings_[lane].size() <= n)
        meetings_[lane].push_back(flag({.says = Says::meeting, .name = record_.lanes()[lane].name.c_str()}));
    return meetings_[lane][n];
}

/// Returns the number of the act.
std::size_t LaneActs::add(Warpgroup w, const Act& act) {
    State& s = states_[w];
    std::vector<Act>& all = acts(w);
    if (step_ >= 0 && s.told != step_) all.push_back({.kind = Act::Kind::mark, .step = s.told = step_});
    all.push_back(act);
    all.back().step = std::max<Index>(step_, 0);
    return all.size() - 1;
}

void LaneActs::wait(Warpgroup w, Signal flag, Index count, Awaited awaited, const char* what) {
    add(w, {.kind = Act::Kind::wait, .what = what, .flag = flag, .count = count, .awaited = awaited});
}

void LaneActs::hear(Warpgroup w, std::size_t number, const char* what) {
    char& heard = heard_[number * programs_.size() + w];
    if (heard) return;
    heard = 1;
    const Arrival& a = arrivals_[number];
    wait(w, a.flag, 1, a.awaited, what);
    if (a.awaited == Awaited::product) add(w, {.kind = Act::Kind::pass, .what = what, .cycles = c_.notices});
    if (a.at_barrier) add(w, {.kind = Act::Kind::pass, .what = what, .cycles = c_.barrier});
}

/// Waits for a tile: in registers only for the part that this warpgroup made, in shared memory for all parts.
void LaneActs::hear_made(Warpgroup w, TileId id) {
    const Index pieces = in_ring(info(id)) ? kernel_.pieces : 1;
    for (Index p = 0; p < pieces; ++p) hear_piece(w, id, static_cast<std::size_t>(p));
}

void LaneActs::hear_piece(Warpgroup w, TileId id, std::size_t piece) {
    const TileInfo& t = info(id);
    const bool shared = t.space == Space::sram;
    for (Warpgroup by = shared ? 0 : w; by < (shared ? programs_.size() : w + 1); ++by)
        if (const std::size_t made = held(by, id).made; made != none) hear(w, made + (in_ring(t) ? piece : 0), t.name);
}

void LaneActs::hear_readers(Warpgroup w, TileId id) {
    if (const std::size_t by = held(w, id).used.by; by != none) hear(w, by, info(id).name);
}

void LaneActs::needs_result(Warpgroup w, TileId id) {
    const State& s = states_[w];
    const std::size_t made = held(w, id).made;
    if (s.has_turn && made != none && arrivals_[made].turn == s.turns) end_turn(w);
    hear_made(w, id);
}

void LaneActs::load(const RecordedEvent& r) {
    const TileId id = r.event.out;
    const Lane& lane = lanes_[r.lane];
    const bool ring = in_ring(info(id));
    const Index pieces = ring ? kernel_.pieces : 1;
    const double part = static_cast<double>(pieces * static_cast<Index>(lane.loaders.size()));
    Act load{
        .kind = Act::Kind::load,
        .what = info(id).name,
        .bytes = static_cast<double>(r.event.cost.hbm_read) / part / static_cast<double>(ring ? kernel_.cluster : 1)};
    if (!ring) place_[id] = loaded_once_++;
    for (const Warpgroup w : lane.loaders) {
        Held& h = held(w, id);
        h.made = arrivals_.size();
        for (Index p = 0; p < pieces; ++p) arrival({.says = Says::made, .name = info(id).name}, Awaited::load);
        load.flag = arrivals_[h.made].flag;
        arrivals_[h.made].at_barrier = !ring;
        State& s = states_[w];
        if (ring)
            load_into_ring(w, load, id);
        else if (lane.fills_ring && !s.filled)
            s.delayed.push_back({load, place_[id]});
        else
            load_once(w, {load, place_[id]});
    }
}

LaneActs::RingState& LaneActs::ring_of(TileId id) {
    return *std::find_if(rings_.begin(), rings_.end(), [&](const RingState& r) { return r.id == info(id).within; });
}

/// Waits until the ring's next slot is free, if it was ever filled.
void LaneActs::wait_for_slot(Warpgroup w, const RingState& ring, const char* what) {
    const Signal freed = ring.freed[ring.next];
    if (freed == no_signal) return;
    wait(w, freed, 1, Awaited::slot, what);
    for_slots_.push_back({w, acts(w).size() - 1});
    if (c_.slot_notices > 0) add(w, {.kind = Act::Kind::pass, .what = what, .cycles = c_.slot_notices});
}

/// Fills the ring's next slot. Returns the flag that says that it is free again.
Signal LaneActs::fill_slot(RingState& ring) {
    const Signal freed =
        flag({.says = Says::freed, .name = info(ring.id).name, .number = static_cast<Index>(ring.next)});
    ring.freed[ring.next] = freed;
    ring.next = (ring.next + 1) % ring.freed.size();
    return freed;
}

void LaneActs::load_into_ring(Warpgroup w, const Act& load, TileId id) {
    RingState& ring = ring_of(id);
    State& s = states_[w];
    for (Index p = 0; p < kernel_.pieces; ++p) {
        wait_for_slot(w, ring, load.what);
        if (!s.filled && p == 0 && kernel_.output == OutputPlace::ring && stored_.count > 0)
            wait(w, stored_.flag, stored_.count, Awaited::stored, load.what);
        const auto slot = static_cast<Index>(ring.next);
        const Signal freed = fill_slot(ring);
        if (p == 0) freed_[id] = freed;
        Act of_piece = load;
        of_piece.flag += static_cast<Signal>(p);
        of_piece.ring = info(ring.id).name, of_piece.slot = slot, of_piece.place = freed;
        add(w, of_piece);
    }
    s.filled = true;
    for (const OnceLoaded& once : s.delayed) load_once(w, once);
    s.delayed.clear();
}

void LaneActs::load_once(Warpgroup w, const OnceLoaded& once) {
    if (kernel_.output == OutputPlace::query && stored_.count > 0)
        wait(w, stored_.flag, stored_.count, Awaited::stored, once.load.what);
    else if (once.place < places_.size())
        for (const Awaits& a : places_[once.place]) wait(w, a.flag, a.count, Awaited::slot, once.load.what);
    add(w, once.load);
}

void LaneActs::product(Warpgroup w, const Event& e) {
    State& s = states_[w];
    const Lane& lane = lane_of(w);
    const TileInfo& a = info(e.a());
    for (const TileId id : {e.a(), e.b()})
        if (in_ring(info(id)))
            hear_piece(w, id, 0);
        else
            hear_made(w, id);
    if (const std::size_t made = held(w, e.out).made; made != none && arrivals_[made].awaited != Awaited::product)
        hear_made(w, e.out);
    if (a.space == Space::registers && size_of(a.dtype) > size_of(e.math)) round(w, e.a(), e.math);
    const bool batons = lane.turns && kernel_.batons > 1 && step_ >= 0;
    const std::size_t baton = batons && s.products++ > 0 ? 1 : 0;
    if (batons)
        take_baton(w, baton);
    else if ((lane.turns || lane.meets) && step_ >= 0)
        take_turn(w);
    const std::size_t done = arrival({.says = Says::product, .name = info(e.out).name, .program = w}, Awaited::product);
    issue(w, e, done);
    held(w, e.out).made = done;
    for (const TileId id : {e.a(), e.b()}) held(w, id).used = {acts(w).size() - 1, done};
    s.product = done;
    if (batons) add(w, {.kind = Act::Kind::set, .flag = s.next + static_cast<Signal>(baton)});
    if (!s.has_turn) return;
    arrivals_[done].turn = s.turns;
    s.hands_on = add(w, {.kind = Act::Kind::set});
}

/// A product of an operand that comes in pieces is as many products.
void LaneActs::issue(Warpgroup w, const Event& e, std::size_t done) {
    const bool in_pieces = in_ring(info(e.a())) || in_ring(info(e.b()));
    const Index pieces = in_pieces ? kernel_.pieces : 1;
    const double tensor = size_of(e.math) == 1 ? 2 * c_.tensor : c_.tensor;
    const double cycles =
        lane_of(w).part * static_cast<double>(e.cost.matmul_flops) / tensor / static_cast<double>(pieces);
    for (Index p = 0; p < pieces; ++p) {
        for (const TileId id : {e.a(), e.b()})
            if (in_ring(info(id))) hear_piece(w, id, static_cast<std::size_t>(p));
        add(w, {.kind = Act::Kind::product,
                .what = info(e.out).name,
                .cycles = cycles,
                .flag = p + 1 == pieces ? arrivals_[done].flag : no_signal});
    }
}

void LaneActs::take_turn(Warpgroup w) {
    State& s = states_[w];
    if (s.has_turn) return;
    s.has_turn = true, ++s.turns;
    const Lane& lane = lane_of(w);
    if (lane.turns) {
        wait(w, s.turn, s.turns, Awaited::turn, "turn");
        add(w, {.kind = Act::Kind::pass, .what = "turn", .cycles = c_.barrier});
    }
    if (lane.meets) {
        const Signal all = meeting(s.lane, s.turns - 1);
        add(w, {.kind = Act::Kind::set, .flag = all});
        wait(w, all, static_cast<Index>(lane.groups.size()), Awaited::all, "meet");
        add(w, {.kind = Act::Kind::pass, .what = "meet", .cycles = c_.barrier});
    }
}

void LaneActs::take_baton(Warpgroup w, std::size_t baton) {
    State& s = states_[w];
    wait(w, s.turn + static_cast<Signal>(baton), ++s.taken[baton], Awaited::turn, "turn");
    add(w, {.kind = Act::Kind::pass, .what = "turn", .cycles = c_.barrier});
}

void LaneActs::end_turn(Warpgroup w) {
    State& s = states_[w];
    if (s.hands_on != none) acts(w)[s.hands_on].flag = s.next;
    s.hands_on = none, s.has_turn = false;
}

void LaneActs::store(Warpgroup w, const Event& e) {
    const TileInfo& from = info(e.a());
    needs_result(w, e.a());
    if (from.cols == 1) return;
    State& s = states_[w];
    const double bytes = static_cast<double>(e.cost.hbm_sent()), part = lane_of(w).part * bytes;
    if (from.space == Space::registers && bytes < static_cast<double>(from.bytes())) round(w, e.a(), Dtype::bf16);
    s.at = no_tile;
    const double issued = kernel_.store > 0 ? kernel_.store : part / rates_.sram;
    held(w, e.a()).used.act =
        add(w, {.kind = Act::Kind::pass, .what = e.operation->name, .cycles = issued + c_.barrier});
    if (kernel_.output == OutputPlace::own) return;
    if (storing_.flag == no_signal) storing_.flag = flag({.says = Says::stored, .name = from.name});
    ++storing_.count;
    add(w, {.kind = Act::Kind::set,
            .cycles = kernel_.stored > 0 ? kernel_.stored : bytes / c_.store + c_.latency,
            .flag = storing_.flag});
}

void LaneActs::give_back(TileId id) {
    if (id >= record_.tiles().size()) return;
    const TileInfo& t = info(id);
    for (Warpgroup w = 0; w < programs_.size(); ++w) {
        Held& h = held(w, id);
        if (t.space == Space::registers)
            hear_readers(w, id);
        else if (h.used.act != none && freed_[id] != no_signal)
            free_slot(w, id);
    }
    if (place_[id] != none) {
        places_.resize(std::max(places_.size(), place_[id] + 1));
        std::vector<Awaits>& free = places_[place_[id]];
        free.clear();
        for (Warpgroup w = 0; w < programs_.size(); ++w)
            if (held(w, id).used.act != none) free.push_back({done_with(w, id), 1});
    }
    for (Warpgroup w = 0; w < programs_.size(); ++w) held(w, id) = {};
}

/// The warpgroup's last act on the tile frees its slot, or each of as many products the slot of a piece.
void LaneActs::free_slot(Warpgroup w, TileId id) {
    const Use used = held(w, id).used;
    std::size_t act = used.act;
    for (Index p = kernel_.pieces; p-- > 0;) {
        const Signal freed = freed_[id] + static_cast<Signal>(p);
        ++users_[freed];
        Act& last = acts(w)[act];
        const bool sets = last.kind == Act::Kind::product || last.kind == Act::Kind::work;
        if (sets && last.frees == no_signal)
            last.frees = freed;
        else
            add(w, {.kind = used.by != none ? Act::Kind::product : Act::Kind::set, .flag = freed});
        if (used.by != none && p > 0) do
                --act;
            while (acts(w)[act].kind != Act::Kind::product);
    }
}

/// The flag that says that the warpgroup's last act on a tile in shared memory is done.
Signal LaneActs::done_with(Warpgroup w, TileId id) {
    const Use used = held(w, id).used;
    if (used.by != none) return arrivals_[used.by].flag;
    const Signal done = flag({.says = Says::freed, .name = info(id).name});
    Act& last = acts(w)[used.act];
    if (last.kind == Act::Kind::work && last.flag == no_signal)
        last.flag = done;
    else
        add(w, {.kind = Act::Kind::set, .flag = done});
    return done;
}

}  // namespace tilescope
