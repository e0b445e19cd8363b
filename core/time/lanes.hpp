// One clock for lanes: warps of a thread block, or of several, that go on at the same time, each through acts of its
// own in order. Units serve them, flags say who may go on. Cycles of one SM.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/machine/error.hpp"
#include "core/machine/units.hpp"
#include "core/time/rates.hpp"

namespace tilescope {

/// Counts how often it was set. A slot that is full, a slot that is free, a turn, a product that is done are flags.
using Flag = std::uint32_t;
inline constexpr Flag no_flag = 0xffffffff;

struct Act {
    enum class Kind : std::uint8_t {
        product,  ///< goes to the end of the tensor cores' queue, and the lane goes on: done, it sets `flag`, `frees`
        load,     ///< the same of the bus's queue: when all bytes are there, it sets `flag`
        work,     ///< on CUDA cores, and the lane goes on when it is done and has set `flag`, `frees`
        wait,     ///< until `flag` was set `count` times
        pass,     ///< so many cycles go by, at work of which nobody else wants a part
        idle,     ///< so many cycles go by, at a barrier for example
        set,      ///< sets `flag`, after so many cycles; the lane goes on
        mark      ///< the play tells when the lane came here
    };
    Kind kind;
    const char* what = "";  ///< a string literal
    Index step = 0;         ///< of the loop, or of what is marked
    double cycles = 0;      ///< where nothing else goes on
    Flag flag = no_flag, frees = no_flag;
    Index count = 1;
    double lone = 1;                ///< of a product: so many times its cycles while no other lane has one in the queue
    double bytes = 0;               ///< of a load
    std::optional<Unit> unit = {};  ///< of work; without, it takes nothing from others: the latency of a shuffle
    double beside = 0;              ///< of work: cycles that it takes longer while tensor cores are at work
    double steals = 0;              ///< of work: cycles that it takes from the tensor cores
};

struct LaneProgram {
    std::string name;
    std::vector<Act> acts;
};

/// The queues that lanes share, and whose names the flags have, for who waits for what.
struct LaneMachine {
    double bus = 0;          ///< bytes per cycle
    double latency = 0;      ///< cycles until what has come over the bus is there
    bool bus_queues = true;  ///< or else each load has a bus of its own
    std::vector<std::string> flags = {};
};

/// Of a lane, or of a queue that serves it: so long it was at an act, or waited.
struct LanePhase {
    std::uint32_t lane;
    Act::Kind kind;
    const char* what;
    Index step;
    double from, to;
};

/// When a lane came by a mark, and how long it had waited and been idle by then.
struct LaneMark {
    std::uint32_t lane;
    Index step;
    double at, waited;
};

struct LanePlay {
    std::vector<LanePhase> phases;  ///< in the order in which they end; where they were asked for
    std::vector<LaneMark> marks;
    double end = 0;
    double tensor = 0, exp = 0, cuda = 0, both = 0;  ///< cycles with work on tensor cores, ...; on both at once
};

/// Lanes that wait for each other: "WG2 waits for V0, which P gives; P waits for slot 2, which WG1 gives; ...".
struct Stuck : RunError {
    using RunError::RunError;
};

/// From cycle 0 until every lane is through. Work on one unit shares it; all work on CUDA cores is slower while tensor
/// cores are at work, by `beside` for each lane that is at such work. Throws Stuck; std::invalid_argument where cycles
/// or bytes are negative or no finite number, with which nothing would ever end.
LanePlay play_lanes(std::span<const LaneProgram> lanes, const LaneMachine& machine, bool phases = false);

}  // namespace tilescope
