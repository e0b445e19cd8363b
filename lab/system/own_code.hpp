// The user's code within this process: it may loop, exit or crash, and then a message has to name its file.
#pragma once

namespace tilescope::lab {

/// While an object lives, code of `file` runs (the text must stay until the program ends). Messages name that file:
/// exit() and quick_exit() are its failures (exit code 1), a crash is reported before it ends the process, and a
/// request to stop that the code ignores for two seconds ends the process with 130.
class OwnCode {
  public:
    explicit OwnCode(const char* file);
    ~OwnCode();
    OwnCode(const OwnCode&) = delete;
    OwnCode& operator=(const OwnCode&) = delete;
};

/// For signal handlers, when the user asks to stop.
void own_code_has_to_stop();

}  // namespace tilescope::lab
