#include "python/bindings/running.hpp"

#include <signal.h>

#include <atomic>

namespace tilescope::python {
namespace {

std::atomic<Control*> listening{nullptr};
struct sigaction pythons;

/// Sets the control's stop, which C++ code checks, and calls Python's handler, which only notes the signal for Python
/// code to find later.
void stop(int number, siginfo_t* info, void* context) {
    if (Control* const control = listening.load()) control->stop = true;
    if (pythons.sa_flags & SA_SIGINFO)
        pythons.sa_sigaction(number, info, context);
    else if (pythons.sa_handler != SIG_DFL && pythons.sa_handler != SIG_IGN)
        pythons.sa_handler(number);
}

bool on_main_thread() {
    static const auto main = py::module_::import("threading").attr("main_thread")().attr("ident").cast<std::size_t>();
    return PyThread_get_thread_ident() == main;
}

}  // namespace

Ear::Ear(Control& control) : listens_(!listening.load() && on_main_thread()) {
    if (!listens_) return;
    listening = &control;
    struct sigaction ours = {};
    ours.sa_sigaction = stop;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGINT, nullptr, &pythons);
    sigaction(SIGINT, &ours, nullptr);
}

Ear::~Ear() {
    if (!listens_) return;
    sigaction(SIGINT, &pythons, nullptr);
    listening = nullptr;
}

int& runs_under_way() {
    static int runs = 0;
    return runs;
}

}  // namespace tilescope::python
