// Ctrl-C, and the other ways to ask a program to end.
#pragma once

#include "core/machine/mode.hpp"

namespace tilescope::lab {

/// What a request to stop stops.
Control& control();

/// From here on SIGINT, SIGTERM and SIGHUP are requests to stop, but for those that the program was started to ignore
/// (nohup). Whoever asks a second time does not want to wait: that ends the process, and the temporaries of its files
/// with it. Writing to a closed pipe, or past a file's largest size, is an error of the write, and no signal.
void listen_for_signals();

}  // namespace tilescope::lab
