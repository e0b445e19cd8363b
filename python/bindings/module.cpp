// The extension module tilescope._core: what is bound, and what stands on more than the window has.
#include "python/bindings/bindings.hpp"

PYBIND11_MODULE(_core, m) {
    tilescope::python::define(m);
    tilescope::python::define_reconcile(m);
}
