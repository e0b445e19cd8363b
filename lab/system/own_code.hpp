// The user's code within this process: it may loop, exit or crash, and then a message has to name its file.
#pragma once

namespace tilescope::lab {

/// To be created before code of `file` runs, and to live as long (the text must stay until the program ends). Messages
/// then name the file: exit() and quick_exit() count as failures (exit code 1), a crash is reported before it ends the
/// process, and a request to stop that the code ignores for two seconds ends the process with exit code 130.
class OwnCode {
  public:
    explicit OwnCode(const char* file);
    ~OwnCode();
    OwnCode(const OwnCode&) = delete;
    OwnCode& operator=(const OwnCode&) = delete;
};

/// To be called by signal handlers when the user asks to stop.
void own_code_has_to_stop();

}  // namespace tilescope::lab
