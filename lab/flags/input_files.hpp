// The NumPy files that flags name, as inputs of a request.
#pragma once

#include "lab/flags/request.hpp"
#include "lab/workload/inputs.hpp"

namespace tilescope::lab {

/// How the dimensions of the files are ordered. Throws UsageError.
Layout layout_from(const Options& options);
/// Refuses files of another computation, and flags about files where there is no file.
void check_files(const Computation& computation, const Options& options);
/// Reads Q, K, V and dO, or X, where there are any. Their sizes become those of the options.
void read_input_files(Options& options, Request& request, Control* control);
/// To be called when `request.problem` has all sizes: the shapes of both biases follow from them.
void read_bias_files(const Options& options, Request& request, const Computation& computation, Control* control);

}  // namespace tilescope::lab
