// The grid of cases that the shipped measurements cover, and a smaller one of shapes that kernels get wrong.
#pragma once

#include <vector>

#include "device/kernel_case.hpp"

namespace tilescope::device {

/// Every kernel over lengths of 256 to 16,384 (ragged ones too), head dimensions, tiles, causal and not, and batch x
/// heads of 1 to 64; one case of `standard` that not even a GPU with 141 GiB has the memory for. Cases of the same
/// problem follow one another, in an order that never changes.
std::vector<KernelCase> full_survey();

/// Every kernel instance on small shapes: one row, one key, ragged tiles, rows that see nothing, shared heads, large
/// logits. Little work, for sanitizers and tests.
std::vector<KernelCase> quick_survey();

}  // namespace tilescope::device
