// The numbers of a GPU as a table: key, unit, member and range; and which of them follow from others.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/machine/gpu_spec.hpp"

namespace tilescope::lab {

/// The type of the member says what a number may be: whole, any, or unknown too.
using GpuMember = std::variant<Index GpuSpec::*, double GpuSpec::*, std::optional<double> GpuSpec::*>;

struct GpuField {
    const char* key;
    const char* unit;
    GpuMember member;
    double least, most;
    bool measured = false;  ///< by a calibration; not mentioned where there was none
};
/// In the order of GpuSpec.
std::span<const GpuField> gpu_fields();

std::optional<double> value_of(const GpuSpec& spec, const GpuMember& member);
/// Whether all numbers and the compute capability are the same, whatever the names.
bool same_machine(const GpuSpec& a, const GpuSpec& b);

/// Whether a number was stated anew, by its key.
using GivenNumbers = std::function<bool(std::string_view key)>;
/// Makes `spec`, in which the `given` numbers of `before` were changed, consistent again. Measured numbers scale with
/// the data sheet's numbers beside them, and the tensor cores' clock with the clock. A peak is the product of the SMs,
/// a clock and what an SM does per cycle; where the peak is given, the last of these follows. All that follows stays
/// within its range, except this last one.
void scale_what_follows(GpuSpec& spec, const GpuSpec& before, const GivenNumbers& given);
/// "tensor_tflops: 148 TFLOP/s differ from ...": numbers that disagree by more than 1% (a peak and its product, or a
/// measured number above its limit), and a fix. Empty where all agree.
std::string contradiction_in(const GpuSpec& spec);

/// Whole numbers as such, all others as a short text that reads back to the same number.
std::string number_text(double x);

}  // namespace tilescope::lab
