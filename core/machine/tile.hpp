// Tiles on chip.
#pragma once

#include <optional>

#include "core/machine/dtype.hpp"
#include "core/machine/here.hpp"
#include "core/machine/stairs.hpp"

namespace tilescope {

class Block;

/// Where a tile lives on an SM.
enum class Space : std::uint8_t { sram, registers };
constexpr const char* name_of(Space s) { return s == Space::sram ? "SRAM" : "registers"; }

using TileId = std::uint32_t;  ///< counts up within a thread block, never reused there
inline constexpr TileId no_tile = 0xffffffff;

/// rows x cols elements of dtype.
struct TileInfo {
    const char* name;
    Index rows, cols;
    Dtype dtype;
    Space space;
    TileId within = no_tile;  ///< the ring, or the registers of a lane, that the tile lies in: charged as a whole
    Index slot = 0;           ///< of the ring

    Bytes bytes() const { return rows * cols * size_of(dtype); }
};

/// A tile on chip. Block charges it when it is made, its destructor releases it. Programs cannot read its elements.
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
    friend class Apply;
    Tile(Block* block, std::uint32_t slot) : block_(block), slot_(slot) {}
    const TileInfo& info() const;

    Block* block_;
    std::uint32_t slot_;  // ChipMemory::Slot
};

/// Which operand of a product is transposed.
enum class Trans : std::uint8_t { none, a, b };

/// A product's factors: a constant, and a tile of one element or of element stairs(r) for row r. `math`: the type of
/// both operands; absent: the narrower one beside f32. `sum_bits`: as core/machine/tensor_core_sum.hpp adds; 0: in f32.
struct Product {
    Product(float a = 1, const Tile* f = nullptr, std::optional<Dtype> m = {}) : alpha(a), factor(f), math(m) {}
    float alpha;
    const Tile* factor;
    std::optional<Dtype> math;
    Stairs stairs = {};
    int sum_bits = 0;
};

}  // namespace tilescope
