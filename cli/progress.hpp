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

/// Shows `text()` on standard error, if that is a terminal, from half a second on until the object is destroyed.
class Progress {
  public:
    explicit Progress(std::function<std::string()> text);
    /// Shows "label 42%": the share of the blocks that control() has counted as done.
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
