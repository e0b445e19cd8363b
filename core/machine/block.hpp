// A thread block on an SM. Only a Block gives access to HBM, SRAM, registers and arithmetic. Each operation charges a
// cost that follows from shapes and types, computes numbers where the mode has data, and reports an event.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "core/machine/grid.hpp"
#include "core/machine/tensor.hpp"
#include "core/machine/tile.hpp"

namespace tilescope {

class Gpu;
struct Worker;
struct Event;
struct Origin;
struct LaneSpec;
class Lane;
class Ring;

using LaneId = std::uint16_t;  ///< counts up within a thread block
inline constexpr LaneId no_lane = 0xffff;

class Block {
  public:
    Index index() const { return index_; }

    /// Says which pseudo-code line the operations that follow belong to.
    void at(std::uint16_t pseudo_code_line);

    /// HBM -> a new tile. In SRAM the tile has the tensor's type, in registers f32; i32 stays i32.
    Tile load(const Hbm& from, Span rows, Span cols, Space to = Space::sram, Here here = Here::now());
    Tile load(const Hbm& from, Span rows, Space to = Space::sram, Here here = Here::now()) {
        return load(from, rows, {0, from.cols()}, to, here);
    }
    /// HBM -> a tile that exists already. The tile must be rows.size x cols.size.
    void reload(Tile& to, const Hbm& from, Span rows, Span cols, Here here = Here::now());
    /// A tile -> HBM, rounded to the tensor's type. The tile must be rows.size x cols.size. Two thread blocks of a
    /// launch may not store to the same elements (Race), unless they take turns: ordered() in core/machine/grid.hpp.
    void store(const Tile& from, const Hbm& to, Span rows, Span cols, Here here = Here::now());
    void store(const Tile& from, const Hbm& to, Span rows, Here here = Here::now()) {
        store(from, to, rows, {0, to.cols()}, here);
    }
    /// Adds a tile to an f32 tensor in HBM. The L2 adds: nothing returns to the SM. Thread blocks of a launch may add
    /// to the same elements, in the order of the blocks' numbers. None may load from the tensor or store to it (Race).
    void reduce_add(const Tile& from, const Hbm& to, Span rows, Here here = Here::now());
    /// A new tile in which every element is `fill`. `name` must be a string literal.
    Tile alloc(const char* name, Index rows, Index cols, Space space, Dtype dtype = Dtype::f32, float fill = 0,
               Here here = Here::now());
    Tile alloc_registers(const char* name, Index rows, Index cols, float fill = 0, Here here = Here::now()) {
        return alloc(name, rows, cols, Space::registers, Dtype::f32, fill, here);
    }

    /// Lanes and rings: core/machine/lane.hpp. Their names must be string literals.
    Lane lane(const char* name, const LaneSpec& spec, Here here = Here::now());
    /// A tile of rows x cols takes `pieces` slots of the ring: half tiles are loaded one by one. Thread blocks of a
    /// `cluster` fill their rings with the same tiles: each asks the L2 for its part, which all of them receive.
    Ring ring(const char* name, Index slots, Index rows, Index cols, Dtype dtype, Index pieces = 1, Index cluster = 1,
              Here here = Here::now());
    /// HBM -> a new tile in the ring's next slot. The tile that the slot held before must have been given back.
    Tile load(Ring& to, const Hbm& from, Span rows, Here here = Here::now());
    /// The same for a tile that is made on chip, of the ring's type.
    Tile alloc(Ring& to, const char* name, Index rows, Index cols, Here here = Here::now());

    /// acc += alpha factor a b (at most one operand transposed), 2mnk FLOPs: factors are free, because kernels fold
    /// them into what follows. Operands are rounded or widened to the type of `math`; the sum is f32. Others: ops.hpp.
    void matmul(Tile& acc, const Tile& a, const Tile& b, Trans trans, const Product& by = {}, Here here = Here::now());

    /// body(Span) for every tile, promising that all full tiles cost the same. Counting runs one of them, weighted,
    /// and the ragged tail; exact modes run all and check the promise (BrokenPromise). Where a folded block stands for
    /// several, an iteration over tiles made by by_grade() counts as often as all of these blocks together see it.
    template <class F>
    void uniform(const Tiles& tiles, F&& body, Here here = Here::now()) {
        loop({tiles, Promise::uniform}, std::ref(body), here);
    }
    /// A loop of two stages, in which a tile's second stage runs in the turn of the next tile. stages(next, now) does
    /// the first stage of tile `next` and the second stage of tile `now`: nullptr where there is none. The call
    /// stages(nullptr, last) comes after the loop. Promises what uniform() promises, of each stage for itself.
    template <class F>
    void pipelined(const Tiles& tiles, F&& stages, Here here = Here::now()) {
        two_stages({tiles, Promise::uniform}, std::ref(stages), here);
    }
    /// body(Span) for every tile, promising that its cost is affine in the number of inner tiles in seen(Span).
    template <class F>
    void graded(const Tiles& tiles, const Seen& seen, F&& body, Here here = Here::now()) {
        loop({tiles, Promise::graded, seen}, std::ref(body), here);
    }
    /// body(Span) for every tile; nothing is promised.
    template <class F>
    void each(const Tiles& tiles, F&& body, Here here = Here::now()) {
        loop({tiles}, std::ref(body), here);
    }

  private:
    friend class Gpu;
    friend class Tile;
    friend class Apply;
    friend class Issue;

    using Body = std::function<void(Span)>;
    using Stages = std::function<void(const Span* next, const Span* now)>;
    using TileData = std::span<const float>;

    Block(Gpu& gpu, Worker& worker, Index index, Count weight);

    const TileInfo& info(const Tile& t) const;
    TileData contents(const Tile& t) const;
    void round_result(const Tile& t);
    std::uint32_t make(TileInfo info, const Tile* within = nullptr);
    Tile take_slot(Ring& to, TileInfo info);
    LaneId issue_for(LaneId lane);
    void fetch(Tile& to, const Hbm& from, Span rows, Span cols, Here here, Index cluster = 1);
    void prepare(const Hbm& from, Span rows, Span cols, Here here);
    void look_up(const Hbm& tensor, Span rows, Here here);
    void read_pages(const Hbm& from, Span rows, Span cols, float* out) const;
    void release(std::uint32_t slot);
    void check_region(const char* what, const Hbm& tensor, Span rows, Span cols) const;
    void check_written(const char* what, const Region& region, Here here);
    void send(bool adds, const Tile& from, const Hbm& to, Span rows, Span cols, Here here);
    void report(Event e, const Tile& tile, TileData data, Here here);

    void loop(const Axis& asked, const Body& body, Here here);
    void two_stages(const Axis& asked, const Stages& stages, Here here);
    void run_stages_folded(const Axis& range, const Stages& stages, Here here);
    void run_all_stages(const Axis& range, const Stages& stages, Here here);
    struct Seeing {
        Count full, ragged;
    };
    Seeing seeing(const Tiles& tiles, Here here) const;
    void run_folded(const Axis& range, const Body& body, Here here);
    void run_all(const Axis& range, const Body& body, Here here);
    void turn(const Axis& range, Index k, Count weight, const Body& body);

    Gpu& gpu_;
    Worker& w_;
    Index index_;
    Count weight_;
    std::uint16_t line_ = 0;
    /// The Representative that runs, of the graded axis or loop around (core/machine/fold.hpp); members 0: none.
    struct Grading {
        Count members = 0, full = 0, ragged = 0, own = 0;  // own: the inner tiles that the representative itself sees
    } grading_;
    struct LookedUp {
        Region entries;
        Tile pages;
    };
    std::optional<LookedUp> at_hand_;  // entries of a page table that were read last, until an iteration ends
};

inline const TileInfo& Tile::info() const { return block_->info(*this); }
inline Tile::~Tile() {
    if (block_) block_->release(slot_);
}

}  // namespace tilescope
