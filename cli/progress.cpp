#include "cli/progress.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>

#include "core/text/message.hpp"

namespace tilescope::cli {
using namespace lab;

Progress::Progress(std::function<std::string()> text) : text_(std::move(text)) {
    if (isatty(STDERR_FILENO)) thread_.emplace([this] { run(); });
}

Progress Progress::blocks(std::string label) {
    return Progress([label = std::move(label)] {
        const Index total = control().blocks_total, done = control().blocks_done;
        return total > 0 ? text::message("progress.percent", label, 100 * done / total) : label;
    });
}

Progress::~Progress() {
    {
        const std::scoped_lock lock(mutex_);
        finished_ = true;
    }
    done_.notify_one();  // the destructor of thread_ joins the thread, if there is one
}

void Progress::run() noexcept {
    using namespace std::chrono_literals;
    bool shown = false;
    try {
        std::unique_lock lock(mutex_);
        for (auto wait = 500ms; !done_.wait_for(lock, wait, [this] { return finished_; }); wait = 100ms) {
            std::fprintf(stderr, "\r\033[K%s", text_().c_str());
            shown = true;
        }
    } catch (const std::exception&) {
        // Work without a progress line is better than none.
    }
    if (shown) std::fputs("\r\033[K", stderr);
}

}  // namespace tilescope::cli
