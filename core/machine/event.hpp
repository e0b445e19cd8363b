// Events and marks: what listeners are told while a program runs. docs/events.md describes every field.
#pragma once

#include <array>
#include <limits>
#include <span>

#include "core/machine/counters.hpp"
#include "core/machine/grid.hpp"
#include "core/machine/lane_info.hpp"
#include "core/machine/operation.hpp"
#include "core/machine/tensor.hpp"
#include "core/machine/tensor_info.hpp"
#include "core/machine/tile.hpp"

namespace tilescope {

/// A tile that an operation reads besides the one it writes.
struct Operand {
    TileId tile = no_tile;
    bool transposed = false;

    friend bool operator==(const Operand&, const Operand&) = default;
};

struct Event {
    const Operation* operation;
    std::uint16_t line = 0;            ///< line of the pseudo-code
    std::uint32_t source_line = 0;     ///< line of the tile program
    const char* source_file = "";      ///< the file of the tile program
    Index block = 0;                   ///< linear index in the launch's grid
    const LaneInfo* lane = nullptr;    ///< the lane that issued it, valid during the call; nullptr: none
    TileId out = no_tile;              ///< the tile written, made or given back; none for a store
    std::array<Operand, 2> reads{};    ///< a and b; of a store a is the tile stored
    float alpha = 1;                   ///< factor of a product
    TileId factor = no_tile;           ///< a tile: a further factor of a product, or of its rows
    Dtype math = Dtype::f32;           ///< the type in which operands are multiplied
    const TileInfo* tile = nullptr;    ///< `out`, or a of a store; valid during the call
    Meaning meaning = Meaning::other;  ///< of the numbers of `tile`, as far as it follows from operands
    /// For a load or store, what moved. For a computation, the part of its matrix that the tile is (a tile of scores
    /// has the rows of its queries and the columns of its keys), without a tensor; sizes are 0 where it is not known.
    Region region = {};
    Counters cost = {};                       ///< of one execution
    Count times = 1;                          ///< executions this event stands for: more than 1 when folded
    Bytes sram_used = 0, registers_used = 0;  ///< by this block, after the operation

    Kind kind() const { return operation->kind; }
    TileId a() const { return reads[0].tile; }
    TileId b() const { return reads[1].tile; }
    bool moves_data() const { return kind() == Kind::load || kind() == Kind::store; }
};

/// The contents of the tile that an operation wrote (row-major). For a store, the values as HBM has them afterwards;
/// for a reduction, the values that are added. Empty in modes without data.
using TileData = std::span<const float>;

/// Marks nest: a launch contains thread blocks, and these contain loops. Each begin has its end, except where a run
/// fails.
struct LaunchMark {
    Index launch;        ///< its number, from 0
    const char* kernel;  ///< a string literal
    std::span<const Axis> axes;
    Counters cost;  ///< in begin() one launch, in end() zero
};
struct BlockMark {
    Index launch, block;
    std::span<const Span> at;  ///< one span for each axis
    Count times;
    Counters cost;  ///< in begin() one thread block, in end() zero
};
/// A loop over tiles. In a folded run only some tiles have turns; TurnMark::times says how many each stands for.
struct LoopMark {
    Index block;
    Tiles tiles;  ///< tiles.name() is the name of the loop's index
    Promise promise;
    std::uint16_t line;
    Here here;
    Count times;  ///< how often the loop runs in everything that this block stands for
};
/// A turn (one iteration) of the innermost open loop.
struct TurnMark {
    Index block, index;  ///< index: of `tile` among the loop's tiles
    Span tile;
    Count times;
};
/// The program said at(line): a visit of a pseudo-code line begins.
struct LineMark {
    Index block;
    std::uint16_t line;
    Count times;
};

/// An exception that a listener throws ends the run. A tile is given back by a destructor, which cannot throw: an
/// exception from on() of that event is thrown at the next mark or event, which no listener then hears.
struct Listener {
    /// What the run must be like. A Gpu refuses a listener that it cannot serve.
    struct Needs {
        bool exact = false;  ///< every thread block and tile, one by one: no folding
        bool data = false;   ///< the contents of tiles
    };

    virtual ~Listener() = default;
    virtual Needs needs() const { return {}; }
    /// Whether the events of this thread block are wanted at all.
    virtual bool wants(Index /*launch*/, Index /*block*/) { return true; }
    /// The first thread block from `from` on that can be wanted. A run of wanted blocks only (Mode::only_wanted) jumps
    /// there, however many blocks lie in between.
    virtual Index next_wanted(Index /*launch*/, Index from) { return from; }
    static constexpr Index none_wanted = std::numeric_limits<Index>::max();

    virtual void begin(const LaunchMark&) {}
    virtual void end(const LaunchMark&) {}
    virtual void begin(const BlockMark&) {}
    virtual void end(const BlockMark&) {}
    virtual void begin(const LoopMark&) {}
    virtual void turn(const TurnMark&) {}
    virtual void end(const LoopMark&) {}
    virtual void visit(const LineMark&) {}
    virtual void on(const Event& event, TileData data) = 0;
};

}  // namespace tilescope
