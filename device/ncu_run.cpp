#include "device/ncu_run.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

extern char** environ;

namespace tilescope::device {
namespace {

/// A program that runs, and the pipe that everything it prints comes through.
class Child {
  public:
    explicit Child(std::vector<std::string> command) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw RunError(std::string("pipe: ") + std::strerror(errno));
        pipe_ = ends[0];
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
        std::vector<char*> arguments;
        for (std::string& a : command) arguments.push_back(a.data());
        arguments.push_back(nullptr);
        const int error = posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        if (error != 0) {
            close(pipe_);
            throw RunError(command[0] + ": cannot be run: " + std::strerror(error));
        }
    }
    ~Child() {
        close(pipe_);
        if (process_ > 0) kill(process_, SIGTERM), wait();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// Appends what comes next; false at the end. Throws Interrupted.
    bool read_more(std::string& text, const Control* control) {
        char buffer[1 << 14];
        const ssize_t n = read(pipe_, buffer, sizeof buffer);
        check_stop(control);
        if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
        return n > 0 || (n < 0 && errno == EINTR);
    }
    /// Its exit status.
    int wait() {
        int status = 0;
        while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        process_ = 0;
        return status;
    }

  private:
    int pipe_ = -1;
    pid_t process_ = 0;
};

std::vector<std::string> command(const std::vector<std::string>& metrics, const std::vector<std::string>& arguments) {
    std::string list;
    for (const std::string& m : metrics) list += (list.empty() ? "" : ",") + m;
    std::vector<std::string> all = {"ncu",
                                    "--clock-control",
                                    "none",
                                    "--csv",
                                    "--page",
                                    "raw",
                                    "--print-units",
                                    "base",
                                    "--metrics",
                                    list,
                                    std::filesystem::read_symlink("/proc/self/exe").string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
}

Index count_of(std::string_view text, std::string_view part) {
    Index n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size()) ++n;
    return n;
}

/// The last line that is not ncu's own: what the profiled program said.
std::string last_words(const std::string& text) {
    std::istringstream lines(text);
    std::string last;
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && !line.starts_with("==")) last = line;
    return last;
}

std::string run_once(const std::vector<std::string>& all, Control* control, std::atomic<Index>* launches) {
    Child ncu(all);
    std::string text;
    while (ncu.read_more(text, control))
        if (launches) *launches = count_of(text, "==PROF== Profiling");
    const int status = ncu.wait();
    if (status != 0 && parse_ncu(text).empty() && ncu_problem(text).empty())
        throw RunError("--counters: ncu failed: " + last_words(text));
    return text;
}

}  // namespace

void require_ncu() {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (access((folder + "/ncu").c_str(), X_OK) == 0) return;
    throw RunError(
        "--counters: ncu (Nsight Compute) is not on PATH; install it (it comes with the CUDA toolkit, or as the "
        "package "
        "nsight-compute) and put its folder on PATH");
}

std::vector<NcuLaunch> run_ncu(const std::vector<std::string>& arguments, Control* control,
                               std::atomic<Index>* launches) {
    require_ncu();
    std::vector<std::string> metrics(ncu_metrics().begin(), ncu_metrics().end());
    for (;;) {
        const std::string text = run_once(command(metrics, arguments), control, launches);
        auto found = parse_ncu(text);
        if (!found.empty()) return found;
        // An unknown metric stops ncu: once more without it.
        const auto unknown = unknown_metrics(text);
        const auto dropped = std::erase_if(
            metrics, [&](const std::string& m) { return std::ranges::find(unknown, m) != unknown.end(); });
        if (dropped > 0 && !metrics.empty()) continue;
        const std::string problem = ncu_problem(text);
        throw RunError("--counters: " + (problem.empty() ? "ncu profiled nothing: " + last_words(text) : problem));
    }
}

}  // namespace tilescope::device
