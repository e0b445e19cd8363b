#include "gui/shell/native.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <system_error>
#include <utility>

#include "core/machine/parallel.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/system/signals.hpp"

namespace tilescope::gui::shell {
using namespace lab;
using text::message;
namespace {

constexpr int above = 10;  // descriptors from here on are no standard streams

[[noreturn]] void fail(const std::string& what, int error) {
    throw std::system_error(error, std::generic_category(), what);
}

/// Words as exec() wants them.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> out;
    for (const std::string& w : words) out.push_back(const_cast<char*>(w.c_str()));
    out.push_back(nullptr);
    return out;
}

/// The same file under a descriptor that is no standard stream.
int moved_up(int descriptor) {
    const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, above);
    close(descriptor);
    return moved;
}

/// What the new process does between fork and exec. There, only async-signal-safe functions may be called.
[[noreturn]] void become(char* const* words, int input, const std::vector<int>& outputs, pid_t parent, int failed) {
    // The new process ends when its parent ends, even if the parent is killed.
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent) _exit(1);
    setpgid(0, 0);
    dup2(input, 0);
    for (std::size_t k = 0; k < outputs.size(); ++k) dup2(outputs[k], static_cast<int>(k) + 1);
    execvp(words[0], words);
    const int error = errno;
    [[maybe_unused]] const ssize_t n = write(failed, &error, sizeof error);
    _exit(1);
}

/// Starts a program in a process group of its own. Returns 0, or the error.
int start(const std::vector<std::string>& words, int input, const std::vector<int>& outputs, pid_t& process) {
    int failed[2];
    if (pipe2(failed, O_CLOEXEC) != 0) return errno;
    failed[1] = moved_up(failed[1]);
    const std::vector<char*> pointers = pointers_to(words);
    const pid_t parent = getpid();
    process = fork();
    if (process == 0) become(pointers.data(), input, outputs, parent, failed[1]);
    int error = process < 0 ? errno : 0;
    close(failed[1]);
    ssize_t n = 0;
    do n = process < 0 ? 0 : read(failed[0], &error, sizeof error);
    while (n < 0 && errno == EINTR);
    if (n > 0) waitpid(process, nullptr, 0);
    close(failed[0]);
    return error;
}

/// An entry of .Xauthority: whoever knows these 16 bytes may use the display, from any host.
std::string new_key() {
    std::string key;
    const auto add = [&](const std::string& text) { key += std::string{'\0', static_cast<char>(text.size())} + text; };
    std::random_device random;
    std::string secret(16, '\0');
    for (char& c : secret) c = static_cast<char>(random());
    key = "\xff\xff";
    for (const std::string& text : {std::string(), std::string(), std::string("MIT-MAGIC-COOKIE-1"), secret}) add(text);
    return key;
}

}  // namespace

NamelessFile::NamelessFile() {
    std::FILE* const file = std::tmpfile();
    if (!file) fail(message("native.temporary_file"), errno);
    descriptor_ = fcntl(fileno(file), F_DUPFD_CLOEXEC, above);
    std::fclose(file);
}

NamelessFile::~NamelessFile() { close(descriptor_); }

std::string NamelessFile::read(std::size_t most) {
    std::string bytes(most, '\0');
    const ssize_t n = pread(descriptor_, bytes.data(), most, static_cast<off_t>(at_));
    if (n < 0) fail(message("native.temporary_file"), errno);
    at_ += n;
    bytes.resize(static_cast<std::size_t>(n));
    return bytes;
}

void NamelessFile::write(const std::string& bytes) {
    if (pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        fail(message("native.temporary_file"), ENOSPC);
}

Program::Program(const std::vector<std::string>& words, const std::vector<int>& outputs) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe", errno);
    const int input = moved_up(ends[0]);
    to_ = ends[1];
    const int error = start(words, input, outputs, process_);
    close(input);
    if (error == 0) return;
    close(to_);
    fail(words[0], error);
}

Program::~Program() {
    constexpr int patience = 500;  // milliseconds in which the program may clean up
    close_input();
    for (int k = 0; !ended(); ++k) {
        if (k == 0 || k == patience / 2) ask_to_end();
        if (k == patience) kill(process_, SIGKILL);
        wait_a_moment();
    }
}

bool Program::write(const void* data, std::size_t size) {
    for (auto from = static_cast<const char*>(data); size > 0;) {
        const ssize_t n = ::write(to_, from, size);
        check_stop(&control());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        from += n, size -= static_cast<std::size_t>(n);
    }
    return true;
}

void Program::close_input() {
    if (to_ >= 0) close(std::exchange(to_, -1));
}

void Program::ask_to_end() const {
    if (process_ >= 0) kill(process_, SIGTERM);
}

bool Program::ended() {
    if (process_ >= 0 && waitpid(process_, &status_, WNOHANG) != 0) process_ = -1;
    return process_ < 0;
}

DisplayInMemory::DisplayInMemory(int width, int height) {
    key_.write(new_key());
    const std::string screen = std::to_string(width) + "x" + std::to_string(height) + "x24";
    const std::string number_file = "3", key_file = "/dev/fd/4";
    try {
        server_.emplace(
            std::vector<std::string>{"Xvfb", "-displayfd", number_file, "-auth", key_file, "-screen", "0", screen,
                                     "-nolisten", "tcp", "-terminate"},
            std::vector<int>{said_.descriptor(), said_.descriptor(), number_.descriptor(), key_.descriptor()});
    } catch (const std::system_error&) {
        throw RunError(message("native.no_xvfb"));
    }
    std::string number;
    while (!number.ends_with('\n')) {
        check_stop(&control());
        if (server_->ended()) throw RunError(message("native.xvfb_ends", text::shown(said_.read(), 400)));
        wait_a_moment();
        number += number_.read();
    }
    number.pop_back();
    setenv("DISPLAY", (":" + number).c_str(), 1);
    setenv("XAUTHORITY", ("/dev/fd/" + std::to_string(key_.descriptor())).c_str(), 1);
    unsetenv("WAYLAND_DISPLAY");
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }

}  // namespace tilescope::gui::shell
