// On what a kernel computes its products: tensor cores, or CUDA cores.
#pragma once

#include "core/time/rates.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// How kernels of such an experiment compute products.
Style style_of(const Experiment& experiment);
/// Whether the kernel is the algorithm's tensor-core kernel for few rows: see ShortTiles.
bool is_for_few_rows(const Experiment& experiment);

}  // namespace tilescope::lab
