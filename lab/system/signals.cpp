#include "lab/system/signals.hpp"

#include <csignal>

#include "lab/system/atomic_file.hpp"
#include "lab/system/own_code.hpp"

namespace tilescope::lab {
namespace {

Control the_control;

extern "C" void stop(int signal) {
    if (!the_control.stop.exchange(true)) return own_code_has_to_stop();
    remove_temporaries();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void listen_for(int signal) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) return;
    action = {};
    action.sa_handler = stop;  // without SA_RESTART: a blocked read or write returns
    sigaction(signal, &action, nullptr);
}

}  // namespace

Control& control() { return the_control; }

void listen_for_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) listen_for(signal);
    for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

}  // namespace tilescope::lab
