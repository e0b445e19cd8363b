// Tensors in HBM: what they are, and the handle that a tile program has of them.
#pragma once

#include <optional>
#include <string_view>

#include "core/machine/dtype.hpp"
#include "core/machine/units.hpp"

namespace tilescope {

struct TensorInfo;

enum class Role : std::uint8_t { input, output, scratch };
const char* name_of(Role role);

/// What the numbers of a tensor, or of a tile, stand for.
enum class Meaning : std::uint8_t { query, key, value, output, score, statistic, gradient, bias, other };
const char* name_of(Meaning meaning);
/// The meaning of this name; nullopt: there is none.
std::optional<Meaning> meaning_from(std::string_view name);

using TensorId = std::uint16_t;
inline constexpr TensorId no_tensor = 0xffff;

/// A rectangle of one slice of a tensor.
struct Region {
    TensorId tensor = no_tensor;
    Index slice = 0;
    Span rows, cols;

    friend bool operator==(const Region&, const Region&) = default;
};

/// A handle to one slice of a tensor in HBM. It has a shape and a name, and no way to its elements: only
/// Block::load, reload and store cross from here to the chip and back.
class Hbm {
  public:
    Index rows() const { return rows_; }
    Index cols() const { return cols_; }
    Dtype dtype() const { return dtype_; }
    Hbm slice(Index i) const {
        Hbm h = *this;
        h.slice_ = i;
        return h;
    }
    /// The slice of a head. `head` is a span of one head. TensorInfo says how many consecutive heads share a slice.
    Hbm of(Span head) const { return slice(head.begin / heads_per_slice_); }

  private:
    friend class Gpu;
    friend class Block;
    Hbm(TensorId id, const TensorInfo& tensor);

    const char* name_;
    Index slices_, rows_, cols_, slice_ = 0, heads_per_slice_;
    TensorId id_;
    Dtype dtype_;
    Meaning meaning_;
    bool in_pages_;
};

}  // namespace tilescope
