// The subcommands. Each adds itself to the application, with its flags, help, examples and what it does.
#pragma once

#include <CLI/CLI.hpp>

#include "lab/flags/request.hpp"
#include "lab/mapping.hpp"

namespace tilescope::cli {

void add_list(CLI::App& app);
void add_run(CLI::App& app);
void add_compare(CLI::App& app);
void add_explain(CLI::App& app);
void add_sweep(CLI::App& app);
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

/// Completes the tiling and throws DoesNotFit, with the explanation, when `f(experiment)` meets a tile that does not
/// fit.
template <class F>
auto with_tiling(const Algorithm& algorithm, const Request& request, F&& f) {
    const Experiment e{&algorithm, request.problem,
                       choose_tiling(algorithm, request.problem, request.given, request.gpu), request.gpu};
    try {
        return f(e);
    } catch (const OutOfChipMemory& error) {
        throw DoesNotFit(explain(error, algorithm, e.problem, e.tiling, e.gpu));
    }
}

/// What --mode asks for, decided: whether to compute on real numbers, and the reason in a few words.
struct ModeChoice {
    bool numeric = false;
    std::string why;
};
/// For runs already counted. Throws UsageError for an unknown mode, RunError when numbers would not fit in memory.
ModeChoice choose_mode(const Options& options, const Request& request, const std::vector<Report>& counted);

}  // namespace tilescope::cli
