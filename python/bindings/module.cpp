// The extension module tilescope._core: all bindings, also those that need libraries that the window lacks.
#include "python/bindings/bindings.hpp"

PYBIND11_MODULE(_core, m) {
    tilescope::python::define(m);
    tilescope::python::define_reconcile(m);
}
