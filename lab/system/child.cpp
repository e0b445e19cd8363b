#include "lab/system/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"

extern char** environ;

namespace tilescope::lab {
using text::message;
namespace {

/// Starts a program that is found on PATH. Returns 0, or the error.
int start(pid_t& process, const posix_spawn_file_actions_t& actions, char* const* words) {
#ifdef __EMSCRIPTEN__  // the web page has no processes
    static_cast<void>(process), static_cast<void>(actions), static_cast<void>(words);
    return ENOSYS;
#else
    return posix_spawnp(&process, words[0], &actions, nullptr, words, environ);
#endif
}

}  // namespace

Child::Child(std::vector<std::string> command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw RunError(message("child.no_pipe", std::strerror(errno)));
    pipe_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::vector<char*> arguments;
    for (std::string& a : command) arguments.push_back(a.data());
    arguments.push_back(nullptr);
    const int error = start(process_, actions, arguments.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
        close(pipe_);
        throw RunError(message("child.cannot_be_run", command[0], std::strerror(error)));
    }
}

Child::~Child() {
    close(pipe_);
    if (process_ > 0) kill(process_, SIGTERM), wait();
}

bool Child::read_more(std::string& text, const Control* control) {
    char buffer[1 << 14];
    const ssize_t n = read(pipe_, buffer, sizeof buffer);
    check_stop(control);
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    return n > 0 || (n < 0 && errno == EINTR);
}

int Child::wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return status;
}

std::optional<std::string> found_on_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (const std::string file = folder + "/" + program; access(file.c_str(), X_OK) == 0) return file;
    return std::nullopt;
}

}  // namespace tilescope::lab
