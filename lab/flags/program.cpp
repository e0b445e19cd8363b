#include "lab/flags/program.hpp"

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/parse.hpp"
#include "lab/system/output.hpp"
#include "lab/system/signals.hpp"
#include "lab/system/texts.hpp"

namespace tilescope::lab {
using text::message;
namespace {

// `interrupted` and `unread` are the codes that shells report for programs ended by SIGINT and SIGPIPE.
enum ExitCode { done = 0, failed = 1, misused = 2, interrupted = 130, unread = 141 };

void answer(CLI::App& app, int argc, char** argv) {
    try {
        parse(app, argc, argv);
    } catch (const CLI::Success& asked) {  // --help, --version
        app.exit(asked);
    }
}

struct Outcome {
    ExitCode code = done;
    std::string text;
};

/// How f() ends.
template <class F>
Outcome outcome(F&& f) {
    try {
        f();
        return {};
    } catch (const ClosedPipe&) {
        return {unread, ""};
    } catch (const UsageError& e) {
        return {misused, e.what()};
    } catch (const Interrupted& e) {
        return {interrupted, e.what()};
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const RunError& e) {
        return {failed, e.what()};
    } catch (const std::exception& e) {  // words of a library, with names in them
        return {failed, text::shown(e.what(), 400)};
    }
}

/// Carries out what the arguments ask for, until the last byte of output is written.
Outcome carried_out(CLI::App& app, int argc, char** argv) {
    StandardOutput out;
    const Outcome work = outcome([&] { answer(app, argc, argv); });
    const Outcome printing = outcome([&] { out.close(); });
    return work.code == done || printing.code == unread ? printing : work;
}

}  // namespace

std::string exit_codes() { return message("program.exit_codes"); }

int carry_out(const char* name, const char* purpose, const std::function<void(CLI::App&)>& describe, int argc,
              char** argv) {
    listen_for_signals();
    std::string out_of_memory = message("program.out_of_memory");  // made while there is memory for it
    try {
        Outcome end = outcome(use_texts_of_environment);
        if (end.code == done) {
            out_of_memory = message("program.out_of_memory");
            CLI::App app(message(purpose), name);
            describe(app);
            end = carried_out(app, argc, argv);
        }
        // A failure after a request to stop, as of opening a file, happens because of that request.
        if (control().stop && (end.code == failed || end.code == misused)) end = {interrupted, Interrupted().what()};
        if (!end.text.empty()) std::cerr << name << ": " << end.text << '\n';
        return end.code;
    } catch (const std::bad_alloc&) {  // also while flags were described, or a message was made
        std::cerr << name << ": " << out_of_memory << '\n';
        return failed;
    }
}

}  // namespace tilescope::lab
