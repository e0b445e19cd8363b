// NumPy's .npy files, format versions 1.0 to 3.0: how arrays come in and results go out.
#pragma once

#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "core/machine/dtype.hpp"
#include "core/machine/mode.hpp"

namespace tilescope::lab {

struct NpyArray {
    std::vector<Index> shape;
    std::string descr;          ///< the type in the file, as NumPy spells it, e.g. "<f2"
    std::vector<float> values;  ///< in C order, whatever the order in the file
    Dtype natural;              ///< the storage type that the elements suggest: f16, bf16, or else f32
    bool boolean;               ///< a mask: 1 where True
    Index overflowed;           ///< finite f8 elements beyond the range of f32
};

/// What 16-bit whole numbers in a file mean: unknown (they are refused), or the bits of bf16.
enum class Bits16 : std::uint8_t { unknown, bf16 };
/// What other whole numbers mean: unknown (they are refused), or a mask, where all of them are 0 or 1.
enum class WholeNumbers : std::uint8_t { unknown, mask };

/// Reads an array of f2, f4, f8, b1 or V2 elements (bf16, as ml_dtypes saves it), and of whole numbers where `bits16`
/// or `whole` says what they are; of either byte order, in C or Fortran order. f8 is rounded to float. Anything else is
/// a UsageError that names the path, what is wrong and a fix. Throws Interrupted.
NpyArray read_npy(const std::string& path, Control* control = nullptr, Bits16 bits16 = Bits16::unknown,
                  WholeNumbers whole = WholeNumbers::unknown);

/// Fills `out` with the elements from index `first` (in C order) on.
using NpyValues = std::function<void(Index first, std::span<float> out)>;

/// Writes an array in C order. Asks `values` for the elements a chunk at a time, in order, rounds them to `dtype` and
/// stores them as f2 for f16, as f4 for f32 and for bf16, which NumPy does not have. Throws Interrupted.
void write_npy(std::ostream& out, std::span<const Index> shape, Dtype dtype, const NpyValues& values,
               Control* control = nullptr);
/// Writes the array to the file `path`, by AtomicFile.
void write_npy(const std::string& path, std::span<const Index> shape, Dtype dtype, const NpyValues& values);
void write_npy(const std::string& path, std::span<const Index> shape, Dtype dtype, std::span<const float> values);

}  // namespace tilescope::lab
