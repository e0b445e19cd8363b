// The only thing that leaves the simulator while it runs. docs/events.md describes every field.
#pragma once

#include <limits>
#include <span>

#include "core/machine/counters.hpp"
#include "core/machine/dtype.hpp"

namespace tilescope {

enum class Op : std::uint8_t { launch, block_begin, block_end, line, alloc, release, load, store, matmul, map, reduce };
const char* name_of(Op op);

using TileId = std::uint32_t;  ///< counts up within a thread block, never reused there
inline constexpr TileId no_tile = std::numeric_limits<TileId>::max();

using TensorId = std::uint16_t;
inline constexpr TensorId no_tensor = std::numeric_limits<TensorId>::max();

/// A tile on chip: rows x cols elements of dtype.
struct TileInfo {
    const char* name;
    Index rows, cols;
    Dtype dtype;
    Space space;

    Bytes bytes() const { return rows * cols * size_of(dtype); }
};

/// A rectangle of one slice (one batch entry and head, say) of a tensor in HBM.
struct Region {
    TensorId tensor = no_tensor;
    Index slice = 0;
    Span rows, cols;

    friend bool operator==(const Region&, const Region&) = default;
};

struct Event {
    Op op;
    const char* what = "";          ///< the operation's own name: "load", "exp_minus", a kernel's name for `launch`
    std::uint16_t line = 0;         ///< line of the pseudo-code
    std::uint32_t source_line = 0;  ///< line of the tile program
    Index block = 0;                ///< linear index in the launch's grid
    TileId out = no_tile, a = no_tile, b = no_tile;
    const TileInfo* tile = nullptr;  ///< the tile `out` (load, alloc, release, matmul, map, reduce) or `a` (store)
    Region region = {};              ///< of a load or store
    Counters cost = {};              ///< of one execution
    Count times = 1;                 ///< executions this event stands for: more than 1 when folded
    Bytes sram_used = 0, registers_used = 0;  ///< by this block, after the operation
};

/// The contents of the tile that an operation wrote (row-major), or that a store wrote to HBM, as stored there. Empty
/// in modes without data.
using TileData = std::span<const float>;

struct Listener {
    virtual ~Listener() = default;
    /// Whether the events of this thread block are wanted at all.
    virtual bool wants(Index /*launch*/, Index /*block*/) { return true; }
    virtual void on(const Event& event, TileData data) = 0;
};

}  // namespace tilescope
