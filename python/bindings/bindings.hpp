// The bindings, a function for each part.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "core/machine/error.hpp"

namespace tilescope::python {

namespace py = pybind11;

/// Calls all functions below except define_reconcile().
void define(py::module_& m);

void define_errors(py::module_& m);
void define_machines(py::module_& m);
void define_values(py::module_& m);
void define_program(py::module_& m);
void define_operations(py::module_& m);
void define_algorithms(py::module_& m);
void define_runs(py::module_& m);
void define_studies(py::module_& m);
void define_recordings(py::module_& m);
void define_reconcile(py::module_& m);

/// A copy of the text that is never freed: for names and lines of users' programs.
const char* for_ever(const std::string& text);

}  // namespace tilescope::python
