// What runs natively, without Python's lock, and stops at Ctrl-C.
#pragma once

#include "core/machine/mode.hpp"
#include "python/bindings/errors.hpp"

namespace tilescope::python {

/// While it lives, SIGINT is a request to stop, too, where Python runs this on its main thread. What Python made of the
/// signal is looked at when it ends.
class Ear {
  public:
    explicit Ear(Control& control);
    ~Ear();
    Ear(const Ear&) = delete;
    Ear& operator=(const Ear&) = delete;

  private:
    bool listens_;
};

/// How many runs are under way. Under Python's lock.
int& runs_under_way();

/// f(Control&) without Python's lock. KeyboardInterrupt, or what else Python makes of the signal, where it was stopped.
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
