// The elements of a .npy file: which types are read, and as which numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/machine/dtype.hpp"
#include "lab/workload/npy.hpp"

namespace tilescope::lab {

enum class Stored : std::uint8_t { f16, bf16, f32, f64, boolean, whole };

struct StoredElement {
    Stored type;
    std::size_t size;
    bool swapped;
    bool bits = false;  ///< whole numbers that stand for bf16
};

/// The type of element that NumPy calls `descr`. Throws NpyRefusal for a type that is not read.
StoredElement stored_element(std::string_view descr, Bits16 bits16, WholeNumbers whole);
/// Throws NpyRefusal where whole numbers do not look like bits of bf16.
void check_bits(std::string_view descr, std::span<const float> values, WholeNumbers whole);
/// The storage type of the elements: f16, bf16, or else f32, also for f8 and masks.
Dtype dtype_of(Stored type);
/// Converts `to.size()` stored elements to floats, changing `from` on the way. Returns how many finite elements are
/// beyond the range of f32.
Index to_floats(std::span<char> from, StoredElement element, std::span<float> to);

}  // namespace tilescope::lab
