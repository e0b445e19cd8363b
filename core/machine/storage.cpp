#include "core/machine/storage.hpp"

#include <cstring>

#include "core/machine/conversions.hpp"

namespace tilescope {

// All bits set is a NaN in every floating-point type.
Storage::Storage(Dtype dtype, Index slices, Index rows, Index cols)
    : dtype_(dtype),
      slices_(slices),
      rows_(rows),
      cols_(cols),
      data_(new std::byte[static_cast<std::size_t>(bytes())]) {
    std::memset(data_.get(), 0xff, static_cast<std::size_t>(bytes()));
}

void Storage::read(Index first, std::span<float> out) const {
    decode(dtype_, at(first), out.data(), static_cast<Index>(out.size()));
}

void Storage::write(Index first, std::span<const float> values) {
    encode(dtype_, values.data(), at(first), static_cast<Index>(values.size()));
}

void Storage::read(Index slice, Span rows, Span cols, float* out) const {
    const Index start = (slice * rows_ + rows.begin) * cols_ + cols.begin;
    if (cols.size == cols_) return decode(dtype_, at(start), out, rows.size * cols_);
    for (Index r = 0; r < rows.size; ++r) decode(dtype_, at(start + r * cols_), out + r * cols.size, cols.size);
}

void Storage::write(Index slice, Span rows, Span cols, const float* values) {
    const Index start = (slice * rows_ + rows.begin) * cols_ + cols.begin;
    if (cols.size == cols_) return encode(dtype_, values, at(start), rows.size * cols_);
    for (Index r = 0; r < rows.size; ++r) encode(dtype_, values + r * cols.size, at(start + r * cols_), cols.size);
}

}  // namespace tilescope
