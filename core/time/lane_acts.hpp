// The acts of a thread block's lanes for one tile after the other, from its recorded events. The rules are those of
// LanePrograms (core/time/lane_programs.hpp).
#pragma once

#include <array>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/time/lane_programs.hpp"

namespace tilescope {

class LaneActs {
  public:
    /// The record must outlive the acts, because acts have its names.
    LaneActs(const LaneRecord& record, const Rates& rates, const LaneConstants& constants, const LanedKernel& kernel);

    void add_tile();
    /// After the last tile: says how often the flags of slots are set.
    void finish();
    std::vector<LaneProgram> take_programs() { return std::move(programs_); }
    std::vector<LaneFlag> take_flags() { return std::move(flags_); }

  private:
    using Warpgroup = std::size_t;  // number of its program
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    /// The result of a product, of a load, or of work in shared memory: its flag says that it is there.
    struct Arrival {
        Signal flag;
        Awaited awaited;
        bool at_barrier = false;  // a warpgroup that waits takes the time of a barrier
        Index turn = 0;           // of the warpgroup whose product it is
    };
    struct Use {
        std::size_t act = none;
        std::size_t by = none;  // Arrival of a product that reads the tile; none: another act
    };
    /// Work on the elements of a tile, so far.
    struct Pass {
        std::size_t act;
        PerUnit busy{};
        double instructions = 0;  // in cycles at the full rate
    };
    struct Cost {
        PerUnit busy{};           // cycles
        double instructions = 0;  // of all threads
    };
    /// A tile in the hands of one warpgroup.
    struct Held {
        std::size_t made = none;  // Arrival with which it made its part last; of a load, the first of the pieces
        std::size_t pass = none;  // the last Pass
        Use used;
    };
    struct Lane {
        std::vector<Warpgroup> groups = {};
        std::vector<Warpgroup> loaders = {};  // programs that issue its loads
        double part = 1;                      // of the lane's rows that each warpgroup has
        double cycles = 1;                    // factor: fewer than four warps take longer
        bool fills_ring = false, turns = false, meets = false;
    };
    struct OnceLoaded {
        Act load;
        std::size_t place;
    };
    struct State {
        std::size_t lane;
        Index told = -1;  // the last step for which it has a mark
        TileId at = no_tile;
        std::vector<TileId> unheard = {};      // maxima and sums of rows whose shuffles are still to come
        std::vector<OnceLoaded> delayed = {};  // loads that wait for the tile's first load into a ring
        bool filled = false;                   // it has issued that load
        bool has_turn = false;
        std::size_t hands_on = none;  // the act after the last product of the turn
        Index turns = 0;
        Signal turn = no_signal,
               next = no_signal;          // its own, and that of the warpgroup that it hands on to; first baton
        std::array<Index, 2> taken = {};  // turns of each baton, where there are two
        Index products = 0;               // of this step so far
        std::size_t product = none;       // the Arrival of its last product
    };
    struct RingState {
        TileId id;
        std::vector<Signal> freed;  // by slot
        std::size_t next = 0;
    };
    struct Awaits {
        Signal flag;
        Index count;
    };
    struct SlotWait {
        Warpgroup of;
        std::size_t act;
    };

    void add_lane(const RecordedLane& lane, std::size_t number);
    void close_round_of_turns();
    void carry_out(const RecordedEvent& r);
    void load(const RecordedEvent& r);
    void load_into_ring(Warpgroup w, const Act& load, TileId id);
    void load_once(Warpgroup w, const OnceLoaded& once);
    void product(Warpgroup w, const Event& e);
    void issue(Warpgroup w, const Event& e, std::size_t done);
    void work(Warpgroup w, const Event& e);
    void work_on(Warpgroup w, const Event& e, TileId tile);
    void round(Warpgroup w, TileId from);
    void store(Warpgroup w, const Event& e);
    void give_back(TileId id);
    void free_slot(Warpgroup w, TileId id);
    Signal done_with(Warpgroup w, TileId id);

    std::size_t add(Warpgroup w, Act act);
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

    Cost cost_of(const Lane& lane, const Event& e, const TileInfo& tile) const;
    Cost cost_of_rounding(const Lane& lane, const TileInfo& tile) const;
    std::size_t new_pass(Warpgroup w, TileId id, const char* what);
    void grow(Warpgroup w, Pass& pass, const Cost& more);

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
    Index tile_ = 0, step_ = -1;  // where the events are
    std::vector<Lane> lanes_;     // in the order of the record's
    std::vector<LaneProgram> programs_;
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
