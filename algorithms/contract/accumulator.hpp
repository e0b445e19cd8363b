// In how many bits tensor cores add products of 8-bit values.
#pragma once

#include "algorithms/contract/problem.hpp"
#include "core/machine/gpu_spec.hpp"

namespace tilescope {

/// Bits of these sums behind the greatest exponent, for programs whose products are wgmma's: those that the problem
/// names, else those that were measured on this GPU's generation. 0: the sums are f32; so they are in other types, and
/// where nobody measured.
int sum_bits(const Problem& problem, const GpuSpec& gpu);

}  // namespace tilescope
