// Requests in the command line's words.
#pragma once

#include <string>
#include <vector>

#include "lab/flags/request.hpp"
#include "python/bindings/running.hpp"

namespace tilescope::python {

using Words = std::vector<std::string>;

/// The flags of a run: workload, mapping, machine, --mode, --seed, --distribution and --threads. UsageError.
lab::Options options_of(const Words& words);

/// Arrays by the names of the inputs, in the order [slices, rows, cols], C-contiguous, of f32 or f16.
using Arrays = std::map<std::string, py::buffer>;

/// A request, with these inputs in place of random ones: copied once, into tensors of the request's type.
lab::Request request_of(const lab::Options& options, const Algorithm& algorithm, const Arrays& arrays);

}  // namespace tilescope::python
