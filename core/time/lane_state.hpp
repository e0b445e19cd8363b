// What is known while the acts of a thread block's lanes are made: of its lanes, of each warpgroup, and of the tiles
// that they hold.
#pragma once

#include <array>
#include <limits>
#include <vector>

#include "core/time/lanes.hpp"
#include "core/time/work_prices.hpp"

namespace tilescope {

struct LaneState {
    using Warpgroup = std::size_t;  ///< number of its program
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    /// The result of a product, of a load, or of work in shared memory: its flag says that it is there.
    struct Arrival {
        Signal flag;
        Awaited awaited;
        bool at_barrier = false;  ///< a warpgroup that waits takes the time of a barrier
        Index turn = 0;           ///< of the warpgroup whose product it is
    };
    struct Use {
        std::size_t act = none;
        std::size_t by = none;  ///< Arrival of a product that reads the tile; none: another act
    };
    /// Work on the elements of a tile, so far.
    struct Pass {
        std::size_t act;
        TileWork work = {};
    };
    /// A tile in the hands of one warpgroup.
    struct Held {
        std::size_t made = none;  ///< Arrival with which it made its part last; of a load, the first of the pieces
        std::size_t pass = none;  ///< the last Pass
        Use used;
    };
    struct Lane {
        std::vector<Warpgroup> groups = {};
        std::vector<Warpgroup> loaders = {};  ///< programs that issue its loads
        double part = 1;                      ///< of the lane's rows that each warpgroup has
        double cycles = 1;                    ///< factor: fewer than four warps take longer
        bool fills_ring = false, turns = false, meets = false;
    };
    struct OnceLoaded {
        Act load;
        std::size_t place;
    };
    struct State {
        std::size_t lane;
        Index told = -1;  ///< the last step for which it has a mark
        TileId at = no_tile;
        std::vector<TileId> unheard = {};      ///< maxima and sums of rows whose shuffles are still to come
        std::vector<OnceLoaded> delayed = {};  ///< loads that wait for the tile's first load into a ring
        bool filled = false;                   ///< it has issued that load
        bool has_turn = false;
        std::size_t hands_on = none;  ///< the act after the last product of the turn
        Index turns = 0;
        Signal turn = no_signal,
               next = no_signal;          ///< its own, and that of the warpgroup that it hands on to; first baton
        std::array<Index, 2> taken = {};  ///< turns of each baton, where there are two
        Index products = 0;               ///< of this step so far
        std::size_t product = none;       ///< the Arrival of its last product
    };
    struct RingState {
        TileId id;
        std::vector<Signal> freed;  ///< by slot
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
};

}  // namespace tilescope
