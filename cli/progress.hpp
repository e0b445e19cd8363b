// Long work: a progress line on a terminal.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/machine/parallel.hpp"
#include "lab/system/signals.hpp"

namespace tilescope::cli {

/// While it lives, and from half a second on, shows `text()` on standard error if that is a terminal.
class Progress {
  public:
    explicit Progress(std::function<std::string()> text);
    /// "label 42%", of the work that control() follows.
    static Progress blocks(std::string label);
    ~Progress();

  private:
    void run() noexcept;

    std::function<std::string()> text_;
    std::mutex mutex_;
    std::condition_variable done_;
    bool finished_ = false;
    std::optional<BackgroundThread> thread_;  // last, to begin last
};

}  // namespace tilescope::cli
