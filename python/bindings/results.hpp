// Results as Python's objects.
#pragma once

#include <pybind11/numpy.h>

#include "lab/report/report_json.hpp"
#include "python/bindings/bindings.hpp"

namespace tilescope::python {

py::object in_python(const lab::Json& json);
py::object in_python(const lab::MetricValue& value);

/// A read-only view of a tensor, [slices, rows, cols], of f32, f16 or whole numbers as stored. A tensor of bf16, e4m3
/// or e5m2, which NumPy does not have, is copied to an array of f32.
py::array array_of(std::shared_ptr<const Storage> tensor);

}  // namespace tilescope::python
