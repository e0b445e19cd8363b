// Long work: a progress line on a terminal, and a clean way out on Ctrl-C.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/machine/gpu.hpp"

namespace tilescope::cli {

/// The Control that Ctrl-C and SIGTERM stop. The first call installs the handlers; a second Ctrl-C ends the process.
Control& control();

/// While it lives, and from half a second on, shows `text()` on standard error if that is a terminal.
class Progress {
  public:
    explicit Progress(std::function<std::string()> text);
    /// "label 42%", of the thread blocks of the launch that `control()` follows.
    static Progress blocks(std::string label);
    ~Progress();

  private:
    void run();

    std::function<std::string()> text_;
    std::mutex mutex_;
    std::condition_variable done_;
    bool finished_ = false;
    std::thread thread_;
};

}  // namespace tilescope::cli
