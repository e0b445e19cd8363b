// Code of the user's that runs within this process: it may loop, exit or crash, and then somebody has to say whose it
// is.
#pragma once

namespace tilescope::lab {

/// While one lives, code of this file runs; `file` outlives the program. What it does to the process is told in its
/// name: exit() and quick_exit() are failures of it (exit code 1), a crash is told before it ends the process, and a
/// request to stop that it does not look at within two seconds ends the process with 130.
class OwnCode {
  public:
    explicit OwnCode(const char* file);
    ~OwnCode();
    OwnCode(const OwnCode&) = delete;
    OwnCode& operator=(const OwnCode&) = delete;
};

/// For signal handlers: somebody asked to stop.
void own_code_has_to_stop();

}  // namespace tilescope::lab
