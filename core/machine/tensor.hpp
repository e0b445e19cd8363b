// Tensors in HBM: what they are, and the handle that a tile program has of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/machine/dtype.hpp"
#include "core/machine/units.hpp"

namespace tilescope {

class Storage;

enum class Role : std::uint8_t { input, output, scratch };
const char* name_of(Role role);

/// What the numbers of a tensor, or of a tile, stand for.
enum class Meaning : std::uint8_t { query, key, value, output, score, statistic, gradient, bias, other };
const char* name_of(Meaning meaning);
/// nullopt for what is none.
std::optional<Meaning> meaning_from(std::string_view name);

using TensorId = std::uint16_t;
inline constexpr TensorId no_tensor = 0xffff;

/// A tensor of `slices` matrices of rows x cols.
struct TensorInfo {
    std::string name;
    Role role;
    Dtype dtype;
    Index slices, rows, cols;
    std::shared_ptr<Storage> data = nullptr;  ///< allocated by the Gpu in modes with data, unless given
    Meaning meaning = Meaning::other;
    Index heads_per_slice = 1;  ///< consecutive heads that share a slice; more than 1 where K and V are grouped

    Index size() const { return slices * rows * cols; }
    Bytes bytes() const { return size() * size_of(dtype); }
};

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
    /// The slice that belongs to a head, as the tensor was declared to be sliced. `head` is a span of one.
    Hbm of(Span head) const { return slice(head.begin / heads_per_slice_); }

  private:
    friend class Gpu;
    friend class Block;
    Hbm(TensorId id, const TensorInfo& t)
        : name_(t.name.c_str()),
          slices_(t.slices),
          rows_(t.rows),
          cols_(t.cols),
          heads_per_slice_(t.heads_per_slice),
          id_(id),
          dtype_(t.dtype),
          meaning_(t.meaning) {}

    const char* name_;
    Index slices_, rows_, cols_, slice_ = 0, heads_per_slice_;
    TensorId id_;
    Dtype dtype_;
    Meaning meaning_;
};

}  // namespace tilescope
