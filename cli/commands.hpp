// The subcommands. Each function adds a subcommand to the application: its flags, help, examples and callback.
#pragma once

#include <CLI/CLI.hpp>

#include "core/machine/mistakes.hpp"
#include "core/text/message.hpp"
#include "lab/flags/command.hpp"
#include "lab/flags/mode.hpp"
#include "lab/flags/request.hpp"
#include "lab/flags/variant.hpp"
#include "lab/model/mapping.hpp"
#include "lab/system/signals.hpp"

namespace tilescope::cli {

void add_list(CLI::App& app);
void add_run(CLI::App& app);
void add_compare(CLI::App& app);
void add_explain(CLI::App& app);
void add_sweep(CLI::App& app);
void add_advise(CLI::App& app);
void add_plot(CLI::App& app);
void add_timeline(CLI::App& app);
void add_step(CLI::App& app);
void add_trace(CLI::App& app);
void add_replay(CLI::App& app);
void add_gpus(CLI::App& app);
void add_models(CLI::App& app);
void add_validate(CLI::App& app);
void add_calibrate(CLI::App& app);
void add_measured(CLI::App& app);
void add_reconcile(CLI::App& app);
void add_doctor(CLI::App& app);

/// Prints a remark on standard error, unless it is empty.
void remark(const std::string& text);

/// The algorithm that the user names. A former name is understood, with a remark on standard error.
const Algorithm& chosen_algorithm(const std::string& name);
/// The algorithm that ALGO and --like name together. Sets the flags that a library's name stands for, and says on
/// standard error what it turned out to mean.
const Algorithm& chosen_algorithm(const std::string& name, lab::Options& options);
/// The variant that the user names: an algorithm with settings. Remarks on a former name, too.
lab::Variant chosen_variant(const std::string& text);
/// Adds the ALGO arguments of commands that take variants.
CLI::Option* add_variants_argument(CLI::App& app, std::vector<std::string>& variants);

/// The results of resolve() and inputs_for(), with progress on a terminal and a stop at Ctrl-C.
lab::Request read_request(const lab::Options& options, const Algorithm& algorithm);
lab::Request read_request(const lab::Options& options, const Computation& computation);
Inputs make_inputs(const lab::Options& options, const lab::Request& request, const Algorithm& algorithm);

/// The result of experiment_of(), with progress on a terminal where it searches for the best tiles.
lab::Experiment chosen_experiment(const Algorithm& algorithm, const lab::Request& request);

/// An OutOfChipMemory told to the user: several lines, exit code 1.
struct DoesNotFit : RunError {
    using RunError::RunError;
};

/// The last line of an error: begin_of_see_it(), then the command that shows the place where the run failed.
std::string begin_of_see_it();
std::string see_it(const Algorithm& algorithm, const lab::Options& options, const Place& place);

/// Calls `f()`. A race or a broken promise of the tile program becomes a RunError that ends with see_it().
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

/// Completes the tiling and calls `f(experiment)` in with_way_back(). Throws DoesNotFit, with an explanation, where a
/// tile does not fit.
template <class F>
auto with_tiling(const Algorithm& algorithm, const lab::Options& options, const lab::Request& request, F&& f) {
    const lab::Experiment e = chosen_experiment(algorithm, request);
    try {
        return with_way_back(algorithm, options, [&] { return f(e); });
    } catch (const OutOfChipMemory& error) {
        throw DoesNotFit(lab::explain(error, algorithm, e.problem, e.tiling, e.gpu, request.wish.tiling) +
                         see_it(algorithm, options, error.place));
    }
}

/// Calls f(); where memory runs out, throws a RunError that ends with `fix`.
template <class F>
auto in_memory(const std::string& fix, F&& f) {
    try {
        return f();
    } catch (const std::bad_alloc&) {
        throw RunError(text::message("failed.out_of_memory", fix));
    }
}

}  // namespace tilescope::cli
