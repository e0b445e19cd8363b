// `tilescope`: the command line. Exit codes: 0 done, 1 a run failed, 2 a bad request, 130 interrupted.
#include <csignal>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "core/text/words.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

constexpr int failed = 1, misused = 2, interrupted = 130;

int say(const std::string& message, int code) {
    std::cout.flush();
    std::cerr << "tilescope: " << message << '\n';
    return code;
}

/// CLI11's own message, made one line, with the way to help.
std::string one_line(const CLI::App& app, const CLI::ParseError& e) {
    const auto subs = app.get_subcommands();
    return text::one_line(e.what()) + "; see `tilescope " + (subs.empty() ? "" : subs[0]->get_name() + ' ') + "--help`";
}

void add_everything(CLI::App& app) {
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("tilescope ") + TILESCOPE_VERSION);
    app.get_formatter()->column_width(36);
    add_list(app);
    add_run(app);
    add_compare(app);
    add_explain(app);
    add_sweep(app);
    add_step(app);
    add_trace(app);
    add_replay(app);
    add_gpus(app);
    add_validate(app);
    app.footer(
        "Examples:\n"
        "  tilescope compare                        all attention algorithms on the default problem\n"
        "  tilescope explain flash_v2               where every byte goes, line by line\n"
        "  tilescope run flash_v2 --seq 16384 --causal --gpu H100\n"
        "  tilescope sweep flash_v1 flash_v2 --vary seq=256:16384:x2 -o sweep.csv");
}

int run(int argc, char** argv) {
    CLI::App app("TileScope: attention algorithms on a modelled GPU, every byte and FLOP counted", "tilescope");
    add_everything(app);
    try {
        app.parse(argc, argv);
        std::cout.flush();
        if (!std::cout) return say("standard output: cannot be written (closed, or the disk is full)", failed);
        return 0;
    } catch (const CLI::Success& e) {
        return app.exit(e);
    } catch (const CLI::ParseError& e) {
        return say(one_line(app, e), misused);
    } catch (const UsageError& e) {
        return say(e.what(), misused);
    } catch (const Interrupted&) {
        return say("interrupted; nothing was written", interrupted);
    } catch (const std::bad_alloc&) {
        return say("out of memory; try --mode count, or a smaller problem", failed);
    } catch (const std::exception& e) {
        return say(e.what(), failed);
    }
}

}  // namespace
}  // namespace tilescope::cli

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error message, not a death
    return tilescope::cli::run(argc, argv);
}
