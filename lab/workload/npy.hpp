// NumPy's .npy files, format versions 1.0 to 3.0: how arrays come in and results go out.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "core/machine/dtype.hpp"
#include "core/machine/mode.hpp"
#include "lab/workload/array_file.hpp"

namespace tilescope::lab {

/// Reads an array of f2, f4, f8 or b1 elements, of V2 (bf16, as ml_dtypes saves it) and of f1 (e5m2, likewise); of
/// whole numbers and V elements of the size of `bits`, as the bits of that type (bf16, e4m3, e5m2 or i8); and of other
/// whole numbers where `whole` says what they are. ml_dtypes saves e4m3 as V1, and other types too, so that `bits` has
/// to name it. Reads either byte order, C and Fortran order. f8 is rounded to float. Anything else is a UsageError that
/// names the path, what is wrong and a fix. Throws Interrupted.
FileArray read_npy(const std::string& path, Control* control = nullptr, std::optional<Dtype> bits = std::nullopt,
                   WholeNumbers whole = WholeNumbers::unknown);

/// Fills `out` with the elements from index `first` (in C order) on.
using NpyValues = std::function<void(Index first, std::span<float> out)>;

/// Writes an array in C order. Asks `values` for the elements a chunk at a time, in order, rounds them to `dtype` and
/// stores them as f2 for f16, as i1 for i8, as V1 for e4m3 and e5m2 (numpy.load() refuses f1, as ml_dtypes saves the
/// latter), and as f4 for others, also for bf16, which NumPy does not have. Throws Interrupted.
void write_npy(std::ostream& out, std::span<const Index> shape, Dtype dtype, const NpyValues& values,
               Control* control = nullptr);
/// Writes the array to the file `path`, by AtomicFile.
void write_npy(const std::string& path, std::span<const Index> shape, Dtype dtype, const NpyValues& values);
void write_npy(const std::string& path, std::span<const Index> shape, Dtype dtype, std::span<const float> values);

}  // namespace tilescope::lab
