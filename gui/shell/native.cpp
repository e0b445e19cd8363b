#include "gui/shell/native.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

extern char** environ;

namespace tilescope::gui::shell {
namespace {

constexpr const char* inside_xvfb = "TILESCOPE_INSIDE_XVFB";

/// As the functions that start programs want them.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> out;
    for (const std::string& w : words) out.push_back(const_cast<char*>(w.c_str()));
    out.push_back(nullptr);
    return out;
}

}  // namespace

Reader::Reader(const std::vector<std::string>& words) {
    int ends[2];
    if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    pid_t process = -1;
    const int failed = posix_spawnp(&process, words[0].c_str(), &actions, nullptr, pointers_to(words).data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (failed != 0) {
        close(ends[1]);
        throw std::system_error(failed, std::generic_category(), words[0]);
    }
    process_ = process;
    to_ = ends[1];
}

Reader::~Reader() {
    if (process_ >= 0) kill(process_, SIGTERM);
    finish();
}

bool Reader::write(const void* data, std::size_t size) {
    for (auto from = static_cast<const char*>(data); size > 0;) {
        const ssize_t n = ::write(to_, from, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        from += n, size -= static_cast<std::size_t>(n);
    }
    return true;
}

bool Reader::finish() {
    if (to_ >= 0) close(std::exchange(to_, -1));
    int status = 0;
    if (process_ >= 0) waitpid(std::exchange(process_, -1), &status, 0);
    return status == 0;
}

void start_again_in_xvfb(char** argv, int width, int height) {
    if (std::getenv(inside_xvfb)) return;
    setenv(inside_xvfb, "1", 1);
    const std::string screen = "-screen 0 " + std::to_string(width) + "x" + std::to_string(height) + "x24";
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    const std::string self = n > 0 ? std::string(path, static_cast<std::size_t>(n)) : argv[0];
    std::vector<std::string> words = {"xvfb-run", "-a", "-s", screen, self};
    for (char** a = argv + 1; *a; ++a) words.emplace_back(*a);
    execvp("xvfb-run", pointers_to(words).data());
}

bool is_inside_xvfb() { return std::getenv(inside_xvfb) != nullptr; }

bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }

bool folder_is_writable(const std::string& file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    return access(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
}

std::string unique_suffix() { return std::to_string(getpid()); }

}  // namespace tilescope::gui::shell
