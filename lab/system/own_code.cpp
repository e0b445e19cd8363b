#include "lab/system/own_code.hpp"

#ifdef __EMSCRIPTEN__  // the web page loads no files
void tilescope::lab::own_code_has_to_stop() {}
#else

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "core/text/message.hpp"
#include "lab/system/atomic_file.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr unsigned patience = 2;  // seconds
constexpr int exit_failed = 1, exit_interrupted = 130;

std::atomic<int> running = 0;
std::atomic<const char*> of_file = nullptr;

/// The messages where the user's code ends the process. Made in advance, because a signal handler cannot allocate
/// memory.
struct Endings {
    std::string exits = message("own_code.exits"), does_not_stop = message("own_code.does_not_stop"),
                aborts = message("own_code.aborts"), divides = message("own_code.divides"),
                crashes = message("own_code.crashes");
};
const Endings* endings = nullptr;

/// Prints the message after the name of the file. Safe in a signal handler, because it allocates nothing.
void tell(const std::string& what) {
    const char* const file = of_file;
    for (const char* part : {"tilescope: ", file ? file : "", ": ", what.c_str(), "\n"})
        if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) return;
}

void end_of_exit() {
    if (running == 0) return;
    tell(endings->exits);
    remove_temporaries();
    _exit(exit_failed);
}

extern "C" void out_of_patience(int) {
    if (running == 0) return;
    tell(endings->does_not_stop);
    remove_temporaries();
    _exit(exit_interrupted);
}

extern "C" void crash(int signal) {
    if (running > 0) tell(signal == SIGABRT ? endings->aborts : signal == SIGFPE ? endings->divides : endings->crashes);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

/// A crash may be a stack overflow, so the handlers of crashes have a stack of their own.
void watch() {
    endings = new Endings;  // never freed: the handlers stay
    static char stack[1 << 14];
    stack_t other = {};
    other.ss_sp = stack, other.ss_size = sizeof stack;
    sigaltstack(&other, nullptr);
    const auto handle = [](int signal, void (*handler)(int), int flags) {
        struct sigaction before = {}, action = {};
        sigaction(signal, nullptr, &before);
        if (before.sa_handler != SIG_DFL) return;  // keep the handler of a sanitizer or of Python
        action.sa_handler = handler, action.sa_flags = flags;
        sigaction(signal, &action, nullptr);
    };
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) handle(signal, crash, SA_ONSTACK);
    handle(SIGALRM, out_of_patience, 0);
    std::atexit(end_of_exit);
    std::at_quick_exit(end_of_exit);
}

}  // namespace

OwnCode::OwnCode(const char* file) {
    static std::once_flag once;
    std::call_once(once, watch);
    of_file = file;
    ++running;
}

OwnCode::~OwnCode() { --running; }

void own_code_has_to_stop() {
    if (running > 0) alarm(patience);
}

}  // namespace tilescope::lab
#endif
