// Ctrl-C, and the other ways to ask a program to end.
#pragma once

#include "core/machine/mode.hpp"

namespace tilescope::lab {

/// The Control that a request to stop (Ctrl-C) sets.
Control& control();

/// From here on SIGINT, SIGTERM and SIGHUP are requests to stop, except those that the program was started to ignore
/// (nohup). A second request ends the process at once and removes its temporary files. Writing to a closed pipe, or
/// beyond the largest file size, becomes a write error and no signal.
void listen_for_signals();

}  // namespace tilescope::lab
