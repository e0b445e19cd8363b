// The numbers of a GPU as a table: key, unit, member and range; and which of them state one fact.
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
/// Whether all numbers are the same, and what the GPU can do, whatever it is called.
bool same_machine(const GpuSpec& a, const GpuSpec& b);

/// Whether a number was stated anew, by its key.
using GivenNumbers = std::function<bool(std::string_view key)>;
/// Makes `spec`, in which the given numbers of `before` were changed, one machine again. What was measured is in
/// proportion to the data sheet's number beside it, the tensor cores' clock to the clock, and a peak is the product of
/// the SMs, a clock and what an SM does in it: a peak that is given changes the last of these. What follows stays
/// within its range, but for that one.
void scale_what_follows(GpuSpec& spec, const GpuSpec& before, const GivenNumbers& given);
/// "tensor_tflops 148 is not ...": where a peak and its product differ by more than 1%, both and a way to mend it.
/// Empty where they agree.
std::string contradiction_in(const GpuSpec& spec);

/// Whole numbers as such, all others as a short text that reads back to the same number.
std::string number_text(double x);

}  // namespace tilescope::lab
