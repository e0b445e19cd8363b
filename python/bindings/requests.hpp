// Requests, made from the words of a command line.
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

/// A request with the arrays as inputs. Each array is copied once, into a tensor of the request's type.
lab::Request request_of(const lab::Options& options, const Algorithm& algorithm, const Arrays& arrays);

}  // namespace tilescope::python
