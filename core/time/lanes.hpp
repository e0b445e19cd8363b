// One clock for lanes: warps of one or several thread blocks that run at the same time. Each lane carries out its acts
// in order; units serve the lanes, and flags say which may go on. Times are cycles of one SM.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/machine/error.hpp"
#include "core/machine/units.hpp"
#include "core/time/rates.hpp"

namespace tilescope {

/// The number of a condition that lanes wait for: that a slot is full or free, that it is a lane's turn, that a product
/// is done. The play counts how often each flag was set.
using Signal = std::uint32_t;
inline constexpr Signal no_signal = 0xffffffff;

/// What a lane waits for.
enum class Awaited : std::uint8_t {
    other,
    load,     ///< the bytes of a tile
    product,  ///< a result of the tensor cores
    work,     ///< a result of other warps' work
    slot,     ///< a place in shared memory whose last tile is still read
    turn,     ///< its turn at the tensor cores
    all,      ///< the other warpgroups of its lane, where all meet
    stored,   ///< the last tile's result, which leaves shared memory
};

/// Its fields stand so that it is small: a thread block has thousands.
struct Act {
    enum class Kind : std::uint8_t {
        product,  ///< goes to the end of the tensor cores' queue, and the lane goes on; sets its flags when it is done
        load,     ///< goes to the end of the bus's queue, and the lane goes on; sets `flag` when all bytes are there
        work,  ///< on CUDA cores, shared with other lanes' work; the lane goes on, and flags are set, when it is done
        wait,  ///< until `flag` was set `count` times
        pass,  ///< the lane is busy for so many cycles, whatever others do
        idle,  ///< the same, but counted as waiting: at a barrier, for example
        set,   ///< sets `flag`, after so many cycles; the lane goes on
        mark,  ///< the play notes when the lane gets here
        end    ///< the same, for the end of a tile (a work item) of a persistent thread block
    };
    Kind kind;
    const char* what = "";     ///< a string literal
    Index step = 0;            ///< of the loop, or of what is marked; of `end` the number of the tile
    double cycles = 0;         ///< that it takes when nothing else goes on
    Signal flag = no_signal;   ///< says that the result is there
    Signal frees = no_signal;  ///< says that the operand is no longer needed: its slot of a ring is free
    Index count = 1;
    double bytes = 0;                  ///< of a load
    std::optional<Unit> unit = {};     ///< of work; nullopt: it uses no unit, as the latency of a shuffle
    Awaited awaited = Awaited::other;  ///< of a wait
    Signal place = no_signal;          ///< of a load into a ring: the flag that says that the slot is free again,
    const char* ring = nullptr;        ///< the ring's name,
    Index slot = 0;                    ///< and the number of the slot
    double beside = 0;                 ///< of work: extra cycles of the whole act while products run
    double steals = 0;                 ///< of work: cycles that the whole act takes away from the tensor cores
};

struct LaneProgram {
    std::string name;
    std::vector<Act> acts;
};

/// What lanes share.
struct LaneMachine {
    double bus = 0;          ///< bytes per cycle
    double latency = 0;      ///< cycles from the end of a transfer on the bus until its data is there
    bool bus_queues = true;  ///< false: each load has a bus of its own
    /// Servers that a load passes besides the bus, each in order: bytes per cycle of the SM's own port, and of DRAM for
    /// what L2 lacks; 0: none. The bus lends an SM that was idle so many bytes at once.
    double port = 0, dram = 0, credit = 0;
    std::function<std::string(Signal)> name_of = {};  ///< the name of a flag, made only where a message needs it
};

inline constexpr std::uint32_t no_phase = 0xffffffff;

/// How long an act took: on its lane or, for a product or a load, on the unit that serves the lane. Acts that take no
/// time have a phase where they set a flag.
struct LanePhase {
    std::uint32_t lane;
    Act::Kind kind;
    const char* what;
    Index step;
    double from, to;
    std::uint32_t act = 0;        ///< its number in the lane's program
    double sent = 0;              ///< of a load: when its last byte has left the bus
    std::uint32_t by = no_phase;  ///< of a wait: the phase that set the flag, the last one where the count is above 1
};

/// When a lane reached a mark, and how many cycles it had waited or been idle until then.
struct LaneMark {
    std::uint32_t lane;
    Index step;
    double at, waited;
};

/// Cycles with products, with exponentials, with any work; with both products and work; with bytes on the bus.
struct LaneBusy {
    double tensor = 0, exp = 0, cuda = 0, both = 0, bus = 0;
};

/// When a lane ended a tile, and what units had done until then.
struct LaneEnd {
    std::uint32_t lane;
    Index tile;
    double at;
    LaneBusy busy;
};

/// How long a lane waited for one thing in one tile.
struct LaneWait {
    std::uint32_t lane;
    Index tile;
    Awaited awaited;
    const char* what;
    double cycles;
};

struct LanePlay {
    std::vector<LanePhase> phases;  ///< where asked for: loads as they are issued, other acts as they end
    std::vector<LaneMark> marks;
    std::vector<LaneEnd> ends;  ///< in the order of time
    std::vector<LaneWait> waits;
    double end = 0;
    LaneBusy busy;
};

/// Thrown where lanes wait for each other: "WG2 waits for V0, which P gives; P waits for slot 2, which WG1 gives; ...".
struct Stuck : RunError {
    using RunError::RunError;
};

/// Plays all lanes from cycle 0 to their ends. Acts of work on the same unit share it. While tensor cores are at work,
/// an act of work takes longer: by its `beside` times the number of lanes at work. Throws Stuck; std::invalid_argument
/// where cycles or bytes are negative or not finite, because such a play would never end.
LanePlay play_lanes(std::span<const LaneProgram> lanes, const LaneMachine& machine, bool phases = false);

}  // namespace tilescope
