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

/// The type of the member says which values a number may have: whole numbers, any numbers, or any numbers and unknown.
using GpuMember = std::variant<Index GpuSpec::*, double GpuSpec::*, std::optional<double> GpuSpec::*>;

struct GpuField {
    const char* key;
    const char* unit;
    GpuMember member;
    double least, most;
    bool measured = false;  ///< by a calibration; files leave it out where it is unknown
    bool assumed = false;   ///< the time model has a number of its own where this one is unknown: that of the presets
};
/// In the order of GpuSpec.
std::span<const GpuField> gpu_fields();

std::optional<double> value_of(const GpuSpec& spec, const GpuMember& member);
/// Whether all numbers and the compute capability are the same, whatever the names. A number that one of the two lacks
/// is the same where the time model assumes the other's: files that are older than the number have the machine they
/// had.
bool same_machine(const GpuSpec& a, const GpuSpec& b);

/// Whether the number of this key was given a new value.
using GivenNumbers = std::function<bool(std::string_view key)>;
/// Makes `spec` consistent again: it is `before` with new values of the `given` numbers. The tensor cores' clock scales
/// with the clock, the SRAM of a thread block follows that of an SM, and a measured number scales with the data sheet's
/// number for the same resource. A peak is SMs x clock x work of an SM per cycle. A peak that is not given follows from
/// this product; where only the peak is given, the work per cycle follows. Each number that follows is kept within the
/// range of its field, except the work per cycle.
void scale_what_follows(GpuSpec& spec, const GpuSpec& before, const GivenNumbers& given);
/// "tensor_tflops: 148 TFLOP/s differ from ...": numbers that disagree by more than 1% (a peak and its product, or a
/// measured number above its limit), and a fix. Empty where all agree.
std::string contradiction_in(const GpuSpec& spec);

/// Whole numbers as such, all others as a short text that reads back to the same number.
std::string number_text(double x);

}  // namespace tilescope::lab
