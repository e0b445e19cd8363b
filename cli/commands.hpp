// The subcommands. Each adds itself to the application, with its flags, help, examples and what it does.
#pragma once

#include <CLI/CLI.hpp>

#include "core/machine/mistakes.hpp"
#include "lab/flags/command.hpp"
#include "lab/flags/request.hpp"
#include "lab/mapping.hpp"

namespace tilescope::cli {

void add_list(CLI::App& app);
void add_run(CLI::App& app);
void add_compare(CLI::App& app);
void add_explain(CLI::App& app);
void add_sweep(CLI::App& app);
void add_step(CLI::App& app);
void add_trace(CLI::App& app);
void add_replay(CLI::App& app);
void add_gpus(CLI::App& app);
void add_validate(CLI::App& app);

/// The algorithm that the user names. A former name is understood, with a remark on standard error.
const Algorithm& chosen_algorithm(const std::string& name);

/// An OutOfChipMemory told to the user: several lines, exit code 1.
struct DoesNotFit : RunError {
    using RunError::RunError;
};

/// The way back to where a run failed, as the last line of a message.
std::string see_it(const Algorithm& algorithm, const lab::Options& options, const Place& place);

/// Calls `f()`; a mistake of the program becomes a RunError that ends with the way back to it.
template <class F>
auto with_way_back(const Algorithm& algorithm, const lab::Options& options, F&& f) {
    try {
        return f();
    } catch (const BrokenPromise& error) {
        throw RunError(error.what() + see_it(algorithm, options, error.place));
    } catch (const Race& error) {
        throw RunError(error.what() + see_it(algorithm, options, error.place));
    }
}

/// Completes the tiling and calls `f(experiment)` with a way back; throws DoesNotFit, with the explanation, when that
/// meets a tile that does not fit.
template <class F>
auto with_tiling(const Algorithm& algorithm, const lab::Options& options, const lab::Request& request, F&& f) {
    const lab::Experiment e{&algorithm, request.problem,
                            lab::choose_tiling(algorithm, request.problem, request.given, request.gpu), request.gpu};
    try {
        return with_way_back(algorithm, options, [&] { return f(e); });
    } catch (const OutOfChipMemory& error) {
        throw DoesNotFit(lab::explain(error, algorithm, e.problem, e.tiling, e.gpu) +
                         see_it(algorithm, options, error.place));
    }
}

/// What --mode asks for, decided: whether to compute on real numbers, and the reason in a few words.
struct ModeChoice {
    bool numeric = false;
    std::string why;
};
/// For runs already counted. Throws UsageError for an unknown mode, RunError when numbers would not fit in memory.
ModeChoice choose_mode(const lab::Options& options, const lab::Request& request,
                       const std::vector<lab::Report>& counted);

}  // namespace tilescope::cli
