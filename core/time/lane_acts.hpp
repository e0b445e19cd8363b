// The acts of a thread block's lanes for one tile after the other, from its recorded events. The rules are those of
// LanePrograms (core/time/lane_programs.hpp).
#pragma once

#include <utility>
#include <vector>

#include "core/time/lane_programs.hpp"
#include "core/time/lane_state.hpp"
#include "core/time/work_prices.hpp"

namespace tilescope {

class LaneActs : private LaneState {
  public:
    /// The record must outlive the acts, because acts have its names.
    LaneActs(const LaneRecord& record, const Rates& rates, const LaneConstants& constants, const LanedKernel& kernel);

    /// To be called once.
    void add_tiles(Index tiles);
    std::vector<LaneProgram> take_programs() { return std::move(programs_); }
    std::vector<LaneFlag> take_flags() { return std::move(flags_); }

  private:
    void add_tile();
    void add_lane(const RecordedLane& lane, std::size_t number);
    void close_round_of_turns();
    void carry_out(const RecordedEvent& r);
    void load(const RecordedEvent& r);
    void load_into_ring(Warpgroup w, const Act& load, TileId id);
    void load_once(Warpgroup w, const OnceLoaded& once);
    RingState& ring_of(TileId id);
    void wait_for_slot(Warpgroup w, const RingState& ring, const char* what);
    Signal fill_slot(RingState& ring);
    void product(Warpgroup w, const Event& e);
    void issue(Warpgroup w, const Event& e, std::size_t done);
    void work(Warpgroup w, const Event& e);
    void work_on(Warpgroup w, const Event& e, TileId tile);
    void transpose(Warpgroup w, const Event& e);
    void round(Warpgroup w, TileId from, Dtype to);
    void store(Warpgroup w, const Event& e);
    void give_back(TileId id);
    void free_slot(Warpgroup w, TileId id);
    Signal done_with(Warpgroup w, TileId id);

    std::size_t add(Warpgroup w, const Act& act);
    void wait(Warpgroup w, Signal flag, Index count, Awaited awaited, const char* what);
    void hear(Warpgroup w, std::size_t arrival, const char* what);
    void hear_made(Warpgroup w, TileId id);
    void hear_piece(Warpgroup w, TileId id, std::size_t piece);
    void hear_readers(Warpgroup w, TileId id);
    void needs_result(Warpgroup w, TileId id);
    void take_turn(Warpgroup w);
    void take_baton(Warpgroup w, std::size_t baton);
    void end_turn(Warpgroup w);
    bool is_as_made(Warpgroup w, TileId id);
    void shuffle(Warpgroup w);

    void new_pass(Warpgroup w, TileId id, const char* what);
    void grow(Warpgroup w, std::size_t pass, const TileWork& more);

    Signal flag(const LaneFlag& says);
    std::size_t arrival(const LaneFlag& says, Awaited awaited);
    Signal meeting(std::size_t lane, Index number);
    const TileInfo& info(TileId id) const { return record_.tiles()[id]; }
    Held& held(Warpgroup w, TileId id) { return held_[id * programs_.size() + w]; }
    std::vector<Act>& acts(Warpgroup w) { return programs_[w].acts; }
    Lane& lane_of(Warpgroup w) { return lanes_[states_[w].lane]; }

    const LaneRecord& record_;
    const Rates rates_;
    const LaneConstants c_;
    const LanedKernel kernel_;
    const WorkPrices prices_{rates_, c_, kernel_};
    Index tile_ = 0, step_ = -1;  // where the events are
    std::vector<Lane> lanes_;     // in the order of the record's
    std::vector<LaneProgram> programs_;
    Index warpgroups_ = 0;       // that multiply, of lanes with names
    std::vector<State> states_;  // by program
    std::vector<RingState> rings_;
    std::vector<LaneFlag> flags_;
    std::vector<Index> users_;         // by flag: how often it is set, of those of slots
    std::vector<SlotWait> for_slots_;  // acts that wait for such flags
    std::vector<Arrival> arrivals_;
    std::vector<char> heard_;  // by arrival and program
    std::vector<Pass> passes_;
    std::vector<Held> held_;                               // by tile and program
    std::vector<Signal> freed_;                            // by tile in a ring: the flag of its first piece's slot
    std::vector<std::size_t> place_;                       // by tile that is loaded outside of rings: its place
    std::vector<std::vector<Awaits>> places_;              // when the place of such a tile is free again
    std::size_t loaded_once_ = 0;                          // such tiles so far, of this tile
    std::vector<std::vector<Signal>> meetings_;            // by lane
    Awaits stored_{no_signal, 0}, storing_{no_signal, 0};  // of the tile before; of this tile
};

}  // namespace tilescope
