// What the lanes of a thread block do, as acts on their common clock (core/time/lanes.hpp). Made from the events of a
// run: which lane waits for which follows from the tiles that they use.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/event.hpp"
#include "core/time/lanes.hpp"

namespace tilescope {

/// Constants of kernels whose products and loads are asynchronous (wgmma, TMA), in cycles of one SM. Measured on an
/// H100 with microbenchmarks.
struct LaneConstants {
    double tensor = 4096;  ///< FLOPs of wgmma in f16 per cycle
    double notices = 58;   ///< from the end of a product until the warpgroup that waits for it goes on
    double barrier = 30;   ///< a named barrier, one way
    double shuffles = 60;  ///< the two that a row's maximum or sum takes
    double sigma = 1.1;    ///< ratio of the cycles of compiled work to those of its instructions (one warp a sub-core)
    double beside = 2.8;   ///< extra cycles per cycle of instructions while tensor cores are at work
    double beside_dense = 1;  ///< the same for a pass of full-rate instructions alone,
    double steals = 0.7;      ///< and the cycles that such a pass takes from the tensor cores, per cycle
    double lone = 1.46;  ///< factor on a product of `lone_cols` columns or more while no other lane's product waits
    Index lone_cols = 256;
    double bus = 30;       ///< bytes per cycle from L2 to one SM while all ask
    double latency = 555;  ///< of a bulk copy of data that L2 has
};

/// A listener to one thread block of the first launch. Per lane:
/// - a load goes to the bus and a product to the tensor cores, and the lane goes on;
/// - a lane that uses a tile waits for it. A product need not wait for the sum that it adds to: products are done in
///   order;
/// - a slot of a ring is filled again when every lane that used its tile is done with it; registers that a product
///   reads are given back when it is done;
/// - consecutive operations on the elements of one tile are one pass over it, which takes as long as its busiest unit.
///   A row's maximum or sum is known after the pass: an operation that needs it begins another pass;
/// - lanes with `turns` use the tensor cores in turn. A turn begins before a product of the lane. It ends after the
///   last product that comes before the lane needs the result of a product of this turn.
/// Operations on one number a row take no time, except the shuffles of a maximum or sum. A lane of n x 4 warps is
/// played as n warpgroups, each with its part of the rows.
class LanePrograms : public Listener {
  public:
    LanePrograms(const Rates& rates, const LaneConstants& constants, Index block = 0);

    Needs needs() const override { return {.exact = true}; }
    bool wants(Index launch, Index block) override { return launch == 0 && block == block_; }
    void begin(const LoopMark& mark) override;
    void turn(const TurnMark& mark) override;
    void end(const LoopMark& mark) override;
    void end(const BlockMark& mark) override;
    using Listener::begin;
    using Listener::end;
    void on(const Event& event, TileData data) override;

    /// One for each warpgroup; lanes stand in the order of their first operations. Each program marks when it begins a
    /// turn of the innermost loop. Names are valid as long as this object is.
    const std::vector<LaneProgram>& programs() const { return programs_; }
    const LaneMachine& machine() const { return machine_; }

  private:
    using Warpgroup = std::size_t;  // number of its program

    /// The flag that an act sets when it is done, and the warpgroups that have waited for it.
    struct Arrival {
        Flag flag;
        bool of_product;
        std::set<Warpgroup> heard = {};
    };
    using Arrives = std::shared_ptr<Arrival>;
    struct Use {
        std::size_t act;
        Arrives by;  // of a product that reads the tile; nullptr: another act
    };
    struct OnChip {
        TileInfo info;
        std::map<Warpgroup, Arrives> made;  // how each warpgroup made its part last
        std::map<Warpgroup, Use> used;      // how each used it last
    };
    /// Work on the elements of a tile, so far.
    struct Pass {
        std::size_t act;
        PerUnit busy{};
        double instructions = 0;  // in cycles at the full rate
    };
    /// Lanes may have several warpgroups, which do the same with their part of the rows.
    struct LaneOf {
        std::string name;
        std::vector<Warpgroup> groups = {};
        double part = 1;    // of the lane's rows that each warpgroup has
        double cycles = 1;  // factor: fewer than four warps take longer
        bool turns = false;
    };
    struct State {
        const LaneOf* lane;
        Index told = -1;  // the last step for which it has a mark
        TileId at = no_tile;
        std::map<TileId, Pass> passes = {};        // the last of each tile
        std::set<TileId> unheard = {};             // maxima and sums of rows whose shuffles are still to come
        std::set<Arrives> of_turn = {};            // results of products of the turn that it has
        std::optional<std::size_t> hands_on = {};  // the act after the last product of the turn
        Index turns = 0;
        Flag turn = no_flag;
    };

    const LaneOf& lane_of(const Event& event);
    Flag flag(std::string name);
    const char* keep(std::string name) { return names_.emplace_back(std::move(name)).c_str(); }
    std::vector<Act>& acts(Warpgroup w) { return programs_[w].acts; }
    Index step() const { return loops_.empty() ? -1 : loops_.back(); }

    void load(const LaneOf& by, const Event& e);
    void product(Warpgroup w, const Event& e);
    void work(Warpgroup w, const Event& e);
    void store(Warpgroup w, const Event& e);
    void give_back(TileId id);

    std::size_t add(Warpgroup w, Act act);
    void hear(Warpgroup w, Arrival& arrival, const char* what);
    void hear_made(Warpgroup w, TileId id);
    void hear_readers(Warpgroup w, TileId id);
    void needs_result(Warpgroup w, TileId id);
    void note_use(Warpgroup w, TileId id, std::size_t act, Arrives by = nullptr);
    Arrives arrival(std::string name, bool of_product);
    struct Cost {
        PerUnit busy{};           // cycles
        double instructions = 0;  // of all threads
    };
    Cost cost_of_work(const State& s, const Event& e, const TileInfo& tile) const;
    void grow(Warpgroup w, Pass& pass, const Cost& more);
    void take_turn(Warpgroup w);
    void end_turn(Warpgroup w);

    const Rates rates_;
    const LaneConstants c_;
    const Index block_;
    std::vector<LaneProgram> programs_;
    LaneMachine machine_;
    const std::string no_lane_;  // the name of a program without lanes
    std::vector<State> states_;
    std::deque<LaneOf> lanes_;
    std::map<TileId, OnChip> tiles_;
    std::map<std::pair<TileId, Index>, std::pair<Flag, Index>> slots_;  // by ring and slot: free when set so often
    std::vector<Index> loops_;                                          // the current turn of each open loop
    std::deque<std::string> names_;
};

}  // namespace tilescope
