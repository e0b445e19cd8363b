// The elements of a .npy file: which types are read, and as which numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/machine/dtype.hpp"
#include "core/machine/mode.hpp"
#include "lab/workload/array_file.hpp"

namespace tilescope::lab {

enum class Stored : std::uint8_t { number, f64, boolean, whole };

struct StoredElement {
    Stored type;
    std::size_t size;
    bool swapped;
    Dtype dtype = Dtype::f32;  ///< of numbers
    bool bits = false;         ///< whole numbers that stand for the bits of `dtype`
};

/// The type of element that NumPy calls `descr`. Throws NpyRefusal for a type that is not read.
StoredElement stored_element(std::string_view descr, std::optional<Dtype> bits, WholeNumbers whole);
/// Throws NpyRefusal where whole numbers do not look like bits of `dtype`, as which they were read.
void check_bits(std::string_view descr, Dtype dtype, std::span<const float> values, WholeNumbers whole);
/// The next `count` elements; `overflowed` as to_floats() has it. Throws Interrupted.
std::vector<float> read_elements(ArrayInput& file, StoredElement element, Index count, Index& overflowed,
                                 Control* control);
/// Converts `to.size()` stored elements to floats, changing `from` on the way. Returns how many finite elements are
/// beyond the range of f32.
Index to_floats(std::span<char> from, StoredElement element, std::span<float> to);

}  // namespace tilescope::lab
