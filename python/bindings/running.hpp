// Runs without Python's lock (the GIL) that stop at Ctrl-C.
#pragma once

#include "core/machine/mode.hpp"
#include "python/bindings/errors.hpp"

namespace tilescope::python {

/// While an object lives that was made on Python's main thread, SIGINT also sets control.stop. Python's own handler
/// runs as well; what it raises is checked when the run ends.
class Ear {
  public:
    explicit Ear(Control& control);
    ~Ear();
    Ear(const Ear&) = delete;
    Ear& operator=(const Ear&) = delete;

  private:
    bool listens_;
};

/// How many runs are under way. To be used while holding the GIL.
int& runs_under_way();

/// Calls f(Control&) without the GIL. Where a signal stops f, throws what Python raises for the signal, usually
/// KeyboardInterrupt.
template <class F>
auto natively(F&& f) {
    struct Count {
        Count() { ++runs_under_way(), last_raised() = {}; }
        ~Count() {
            --runs_under_way();
            if (std::uncaught_exceptions() == 0) last_raised() = {};
        }
    } const count;
    Control control;
    try {
        const Ear ear(control);
        const py::gil_scoped_release unlocked;
        return f(control);
    } catch (const Interrupted&) {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        throw;
    }
}

}  // namespace tilescope::python
