// A tensor's data on the host's side of the simulator: [slices, rows, cols] in its storage type. Tile programs never
// see it; front ends fill inputs and read outputs through it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/machine/dtype.hpp"

namespace tilescope {

class Storage {
  public:
    /// Every element starts as NaN (in a type of whole numbers, as the one whose bits are all set), so that whatever a
    /// program forgets to write shows.
    Storage(Dtype dtype, Index slices, Index rows, Index cols);

    Dtype dtype() const { return dtype_; }
    Index slices() const { return slices_; }
    Index rows() const { return rows_; }
    Index cols() const { return cols_; }
    Index size() const { return slices_ * rows_ * cols_; }
    Bytes bytes() const { return size() * size_of(dtype_); }

    /// Copies out.size() elements from linear position `first` (C order).
    void read(Index first, std::span<float> out) const;
    /// Rounds and stores values.size() elements from linear position `first` on.
    void write(Index first, std::span<const float> values);

    /// Copies a rectangle of a slice to or from a dense row-major buffer.
    void read(Index slice, Span rows, Span cols, float* out) const;
    void write(Index slice, Span rows, Span cols, const float* values);

    /// The stored elements in C order, bytes() bytes: for code that moves tensors without decoding them.
    std::byte* data() { return data_.get(); }
    const std::byte* data() const { return data_.get(); }

  private:
    std::byte* at(Index element) { return data_.get() + element * size_of(dtype_); }
    const std::byte* at(Index element) const { return data_.get() + element * size_of(dtype_); }

    Dtype dtype_;
    Index slices_, rows_, cols_;
    std::unique_ptr<std::byte[]> data_;
};

}  // namespace tilescope
