// A thread block on an SM: the only door between HBM, SRAM, registers and arithmetic. Each operation computes its own
// cost from the shapes and types of its operands, charges it, carries it out where the mode has data, and reports it.
#pragma once

#include "core/machine/gpu.hpp"

namespace tilescope {

/// The place in a tile program that calls an operation. (clang 14 has no std::source_location.)
struct Here {
    std::uint32_t line;
    const char* file;
    static constexpr Here now(std::uint32_t l = __builtin_LINE(), const char* f = __builtin_FILE()) { return {l, f}; }
};

/// A tile on chip. Charged when Block makes it, released by its destructor; it cannot show its elements.
class Tile {
  public:
    Tile(Tile&& other) noexcept : block_(other.block_), slot_(other.slot_) { other.block_ = nullptr; }
    Tile& operator=(Tile&&) = delete;
    ~Tile();

    Index rows() const { return info().rows; }
    Index cols() const { return info().cols; }
    Index size() const { return rows() * cols(); }
    Dtype dtype() const { return info().dtype; }
    Bytes bytes() const { return info().bytes(); }

  private:
    friend class Block;
    Tile(Block* block, ChipMemory::Slot slot) : block_(block), slot_(slot) {}
    const TileInfo& info() const;

    Block* block_;
    ChipMemory::Slot slot_;
};

/// Row-major elements of a tile, handed to the function that carries out an operation and valid only there.
struct Elements {
    float* data;
    Index rows, cols;
};
struct ConstElements {
    const float* data;
    Index rows, cols;
};

/// Which operand of a product is transposed.
enum class Trans : std::uint8_t { none, a, b };

/// What an operation computes, besides moving its operands.
struct Flops {
    Count exps = 0, other = 0;
};

/// How an operation treats the tile it writes: `update` reads it as well; `in_passing` rides on the operation that
/// produced the tile (a predicate on its result) and moves nothing of its own.
enum class Access : std::uint8_t { write, update, in_passing };

class Block {
  public:
    Block(Gpu& gpu, Worker& worker, Index index, Count weight);

    Index index() const { return index_; }

    /// Says which pseudo-code line the operations that follow belong to.
    void at(std::uint16_t pseudo_code_line) {
        line_ = pseudo_code_line;
        if (!w_.listeners.empty()) report({.op = Op::line, .line = line_}, {});
    }

    /// HBM -> a new tile. In SRAM it keeps the tensor's type; in registers it is f32.
    Tile load(const Hbm& from, Span rows, Span cols, Space to = Space::sram, Here here = Here::now());
    Tile load(const Hbm& from, Span rows, Space to = Space::sram, Here here = Here::now()) {
        return load(from, rows, {0, from.cols()}, to, here);
    }
    /// HBM -> a tile that exists already and has room for rows x cols.
    void reload(Tile& to, const Hbm& from, Span rows, Span cols, Here here = Here::now());
    /// A tile -> HBM, rounded to the tensor's type. The tile must be rows.size x cols.size.
    void store(const Tile& from, const Hbm& to, Span rows, Span cols, Here here = Here::now());
    void store(const Tile& from, const Hbm& to, Span rows, Here here = Here::now()) {
        store(from, to, rows, {0, to.cols()}, here);
    }
    /// A new tile, filled. `name` must be a string literal.
    Tile alloc(const char* name, Index rows, Index cols, Space space, Dtype dtype = Dtype::f32, float fill = 0,
               Here here = Here::now());
    Tile alloc_registers(const char* name, Index rows, Index cols, float fill = 0, Here here = Here::now()) {
        return alloc(name, rows, cols, Space::registers, Dtype::f32, fill, here);
    }

    /// acc += alpha a b (with one operand transposed), 2mnk FLOPs. f32 operands that meet narrower ones are rounded to
    /// the narrower type first, as tensor cores demand; the sum is kept in f32.
    void matmul(Tile& acc, const Tile& a, const Tile& b, Trans trans, float alpha = 1, Here here = Here::now());

    /// Every other operation: f(Elements out, ConstElements in...), with the listed operands charged as read, `out` as
    /// written (and read, for Access::update), and `flops` as computed. Used by core/machine/ops.cpp, where each has
    /// its price.
    template <class F, class... In>
    void apply(Op op, const char* what, Tile& out, Access access, Flops flops, Here here, F&& f, const In&... in);

    /// body(Span) for every tile, promising that all full tiles cost the same. Counting runs one of them, weighted,
    /// and the ragged tail; exact modes run all and check the promise (BrokenPromise).
    template <class F>
    void uniform(Tiles tiles, F&& body, Here here = Here::now());
    /// body(Span) for every tile; nothing is promised.
    template <class F>
    void each(Tiles tiles, F&& body);

  private:
    friend class Tile;

    bool data() const { return gpu_.mode_.data; }
    const TileInfo& info(const Tile& t) const { return w_.chip.info(t.slot_); }
    Elements view(const Tile& t) const { return {w_.chip.data(t.slot_), t.rows(), t.cols()}; }
    ConstElements const_view(const Tile& t) const { return {w_.chip.data(t.slot_), t.rows(), t.cols()}; }
    TileData contents(const Tile& t) const;
    void round_result(const Tile& t);
    static Bytes& read_bytes(Counters& c, Space s) { return s == Space::sram ? c.sram_read : c.register_read; }
    static Bytes& write_bytes(Counters& c, Space s) { return s == Space::sram ? c.sram_write : c.register_write; }
    void charge_read(Counters& c, const Tile& t) const { read_bytes(c, info(t).space) += t.bytes(); }
    void charge_write(Counters& c, const Tile& t) const { write_bytes(c, info(t).space) += t.bytes(); }

    void fetch(Tile& to, const Hbm& from, Span rows, Span cols, Here here);
    void release(ChipMemory::Slot slot);
    void report(Event e, TileData data);
    void report_operation(Op op, const char* what, const Tile& out, const Tile* a, const Tile* b, const Counters& cost,
                          Here here);
    void check_region(const char* what, const Hbm& tensor, Span rows, Span cols) const;
    ChipMemory::Slot make(const TileInfo& info);
    /// What a member of a `uniform` range costs.
    struct Cost {
        Counters counters;
        std::uint64_t fingerprint;
    };
    Cost so_far() const { return {w_.total, w_.fingerprint}; }
    void verify(const Cost& first, const Cost& now, Index tile, Here here) const;

    Gpu& gpu_;
    Worker& w_;
    Index index_;
    Count weight_;
    std::uint16_t line_ = 0;
};

inline const TileInfo& Tile::info() const { return block_->info(*this); }
inline Tile::~Tile() {
    if (block_) block_->release(slot_);
}

template <class F, class... In>
void Block::apply(Op op, const char* what, Tile& out, Access access, Flops flops, Here here, F&& f, const In&... in) {
    static_assert(sizeof...(In) <= 2, "an operation reads at most two tiles besides the one it writes");
    Counters cost;
    cost.exps = flops.exps;
    cost.other_flops = flops.other;
    (charge_read(cost, in), ...);
    if (access == Access::update) charge_read(cost, out);
    if (access != Access::in_passing) charge_write(cost, out);
    if (data()) {
        f(view(out), const_view(in)...);
        round_result(out);
    }
    w_.total.add(cost, weight_);
    if (!w_.listeners.empty()) {
        const std::array<const Tile*, 2> operands = [&] {
            std::array<const Tile*, 2> o{};
            std::size_t n = 0;
            ((o[n++] = &in), ...);
            return o;
        }();
        report_operation(op, what, out, operands[0], operands[1], cost, here);
    }
}

template <class F>
void Block::uniform(Tiles tiles, F&& body, Here here) {
    if (gpu_.mode_.fold) {
        if (const Index full = tiles.full(); full > 0) {
            const Count weight = weight_;
            weight_ *= full;
            body(tiles[0]);
            weight_ = weight;
        }
        if (tiles.ragged()) body(tiles[tiles.count() - 1]);
        return;
    }
    Cost first{};
    for (Index k = 0; k < tiles.count(); ++k) {
        gpu_.check_stop();
        const Cost before = so_far();
        body(tiles[k]);
        if (k >= tiles.full()) continue;
        const Cost cost = {w_.total - before.counters, w_.fingerprint - before.fingerprint};
        if (k == 0) first = cost;
        verify(first, cost, k, here);
    }
}

template <class F>
void Block::each(Tiles tiles, F&& body) {
    for (Index k = 0; k < tiles.count(); ++k) {
        gpu_.check_stop();
        body(tiles[k]);
    }
}

}  // namespace tilescope
