#include "cli/progress.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>

namespace tilescope::cli {
namespace {

Control the_control;

extern "C" void stop(int signal) {
    the_control.stop = true;
    std::signal(signal, SIG_DFL);
}

}  // namespace

Control& control() {
    static const bool installed = [] {
        struct sigaction action = {};
        action.sa_handler = stop;  // without SA_RESTART: a blocked read or write returns
        sigaction(SIGINT, &action, nullptr);
        sigaction(SIGTERM, &action, nullptr);
        return true;
    }();
    (void)installed;
    return the_control;
}

Progress::Progress(std::function<std::string()> text) : text_(std::move(text)) {
    if (isatty(STDERR_FILENO)) thread_ = std::thread([this] { run(); });
}

Progress Progress::blocks(std::string label) {
    return Progress([label = std::move(label)] {
        const Index total = control().blocks_total, done = control().blocks_done;
        return label + (total > 0 ? "  " + std::to_string(100 * done / total) + "%" : "");
    });
}

Progress::~Progress() {
    if (!thread_.joinable()) return;
    {
        const std::scoped_lock lock(mutex_);
        finished_ = true;
    }
    done_.notify_one();
    thread_.join();
}

void Progress::run() {
    using namespace std::chrono_literals;
    std::unique_lock lock(mutex_);
    bool shown = false;
    for (auto wait = 500ms; !done_.wait_for(lock, wait, [this] { return finished_; }); wait = 100ms) {
        std::fprintf(stderr, "\r\033[K%s", text_().c_str());
        shown = true;
    }
    if (shown) std::fputs("\r\033[K", stderr);
}

}  // namespace tilescope::cli
