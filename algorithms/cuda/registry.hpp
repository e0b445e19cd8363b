// Which algorithms have kernels. Generated from the folders that have a kernel.hpp and a kernel.cu.
#pragma once

#include <span>

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/cuda/kernel.hpp"

namespace tilescope {

/// The kernels in the algorithm's kernel.cu, the default of each head dimension first; empty where it has none.
std::span<const KernelVariant> kernels_of(const Algorithm& algorithm);

/// Enqueues all launches of an algorithm. Throws RunError when CUDA refuses one.
using KernelLauncher = void (*)(const KernelCall&);

/// The launcher in the algorithm's kernel.cu; nullptr where it has none, and in a build without CUDA.
KernelLauncher launcher_of(const Algorithm& algorithm);

}  // namespace tilescope
