// `tilescope step ALGO`: what the window says, step by step, in a terminal.
#include "cli/step.hpp"

#include <iostream>

#include "algorithms/contract/pseudo_code.hpp"
#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/said.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/words.hpp"
#include "lab/flags/values.hpp"
#include "show/run/make_run.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

using namespace show;

constexpr std::size_t page = 40, page_of_table = 100;  // steps told without being asked for more

struct StepFlags {
    Options options;
    std::string algorithm;
    std::optional<Index> from, to, at, sm, line, launch, block;
    bool table = false;
};

std::string asked(const char* flag, Index value) { return std::string(flag) + ' ' + std::to_string(value); }

/// UsageError unless first <= value <= last. The message `id` says what the numbers count; `of` is its last argument.
void check_range(const char* flag, Index value, Index first, Index last, const char* id, const std::string& of = "") {
    if (value < first || value > last)
        throw UsageError(message(id, asked(flag, value), std::to_string(first), std::to_string(last),
                                 asked(flag, value < first ? first : last), of));
}

void check_positions(const StepFlags& f, const Run& run) {
    if (f.at && (f.from || f.to)) throw UsageError(message("step.at_is_one", asked("--at", *f.at)));
    const auto check_alone = [&](const char* flag, const std::optional<Index>& value, const char* id) {
        if (f.at && value) throw UsageError(message(id, asked(flag, *value), asked("--at", *f.at)));
    };
    check_alone("--line", f.line, "step.at_has_line");
    check_alone("--launch", f.launch, "step.at_has_launch");
    check_alone("--block", f.block, "step.at_has_block");
    const auto check = [&](const char* flag, const std::optional<Index>& value, Index first) {
        if (value) check_range(flag, *value, first, run.ticks(), "step.no_such_operation", run.algorithm().name);
    };
    check("--at", f.at, 0);
    check("--from", f.from, 0);
    check("--to", f.to, f.from.value_or(0));
}

void check_line(const StepFlags& f, const Run& run) {
    if (!f.line) return;
    const auto code = code_for(run.algorithm(), run.experiment().problem);
    check_range("--line", *f.line, code.front().number, code.back().number, "step.no_such_line", run.algorithm().name);
}

/// The SM and the thread block whose steps are printed: as the flags say, or else those of the failure.
StepsWanted whose(const StepFlags& f, const Run& run) {
    StepsWanted w;
    const Schedule& schedule = run.schedule();
    const auto& launches = run.trace().launches();
    if (f.launch) check_range("--launch", *f.launch, 1, static_cast<Index>(launches.size()), "step.no_such_launch");
    check_range("--sm", f.sm.value_or(0), 0, schedule.sms_used() - 1, "step.no_such_sm");
    w.sm = f.sm.value_or(0), w.block = f.block;
    if (f.launch) w.launch = *f.launch - 1;
    if (!f.block) {
        const bool fails = run.failure() && !f.sm && !f.launch;
        const Placement* p =
            fails ? schedule.placement_of(run.failure()->place.launch, run.failure()->place.block) : nullptr;
        if (p) w.sm = p->sm;
        return w;
    }
    const Index launch = w.launch.value_or(0);
    const Placement* p = schedule.placement_of(launch, *f.block);
    if (!p) {
        Index last = 0;
        for (const Placement& k : schedule.placements_of(launch)) last = std::max(last, k.block);
        check_range("--block", *f.block, 0, last, "step.no_such_block", std::to_string(launch + 1));
    }
    if (f.sm && *f.sm != p->sm)
        throw UsageError(
            message("step.runs_elsewhere", asked("--sm", *f.sm), std::to_string(*f.block), std::to_string(p->sm)));
    w.sm = p->sm, w.launch = launch;
    return w;
}

/// Why no step matches the flags.
std::string why_nothing(const Run& run, const StepsWanted& w) {
    const std::string sm = std::to_string(w.sm);
    if (w.line) return message("step.nothing_on_line", asked("--line", *w.line), sm, run.algorithm().name);
    return message("step.nothing_there", w.launch ? asked("--launch", *w.launch + 1) : asked("--from", w.from), sm);
}

StepsWanted wanted_of(const StepFlags& f, const Run& run) {
    check_positions(f, run);
    check_line(f, run);
    StepsWanted w = whose(f, run);
    if (f.line) w.line = static_cast<std::uint16_t>(*f.line);
    w.from = f.from.value_or(0), w.to = f.to.value_or(run.ticks());
    return w;
}

/// Whether the flags ask for steps with the failure.
bool shows_failure(const StepsWanted& w, const Run& run) {
    if (!run.failure()) return false;
    const Failure& f = *run.failure();
    return w.to >= f.tick && (!w.launch || *w.launch == f.place.launch) && (!w.block || *w.block == f.place.block) &&
           (!w.line || *w.line == f.place.line);
}

/// The steps that are printed at once: the last steps of a run that fails, the first steps of any other run.
std::vector<Index> page_of(std::vector<Index> steps, const StepFlags& f, bool fails) {
    const std::size_t most = f.table ? page_of_table : page;
    if (f.to || steps.size() <= most) return steps;
    const auto rest = static_cast<std::ptrdiff_t>(steps.size() - most);
    if (fails && !f.from)
        steps.erase(steps.begin(), steps.begin() + rest);
    else
        steps.erase(steps.end() - rest, steps.end());
    return steps;
}

void print_steps(Run& run, LaneWalk& lanes, const StepsWanted& w, const std::vector<Index>& steps) {
    for (std::size_t k = 0; k < steps.size(); ++k) {
        if (k > 0 && !w.launch && !w.line && steps[k] > steps[k - 1] + 1)
            std::cout << '\n' << message("step.idle_until", steps[k] - 1, std::to_string(w.sm)) << '\n';
        run.seek(steps[k]);
        std::cout << '\n';
        print_step(run, lanes, w.sm);
    }
}

/// Remarks on the whole run, beside its steps.
struct Remarks {
    std::vector<std::string> notes;  // about the inputs, and about wrong outputs
    std::vector<std::string> wrong_outputs;
};

/// Notes on inputs, and a check of the final outputs of a user's algorithm, because it may be wrong.
Remarks remarks_on(Run& run, const Request& request) {
    Remarks r{request.notes, {}};
    if (!run.algorithm().lineage.file || !run.has_values() || run.failure()) return r;
    run.seek(run.ticks());
    const Run::StoredError e = run.stored_error();
    if (!is_wrong(run, e)) return r;
    r.wrong_outputs = {run.algorithm().computes->output};
    r.notes.push_back(message("step.output_is_wrong", run.algorithm().name, r.wrong_outputs[0], text::number(e.max_abs),
                              text::number(e.largest)));
    return r;
}

void print_json(Run& run, Index sm, const std::vector<Index>& steps, const Remarks& remarks) {
    Json j = {{"schema", "tilescope.step/1"}};
    j.update(to_json(run.experiment()));
    j["shown"] = run.shortened();
    j["steps_in_all"] = run.ticks();
    j["sm"] = sm;
    j["notes"] = remarks.notes;
    j["wrong_outputs"] = remarks.wrong_outputs;
    j["steps"] = Json::array();
    LaneWalk lanes(run);
    for (const Index step : steps) {
        run.seek(step);
        j["steps"].push_back(step_json(run, lanes, sm));
    }
    std::cout << j.dump(2) << '\n';
}

/// Prints how to see the steps that are not printed.
void print_more(const std::vector<Index>& all, const std::vector<Index>& told) {
    if (told.size() == all.size()) return;
    const bool last = told.back() == all.back();
    std::cout << '\n'
              << (last ? message("step.more_before", told.size(), all.size())
                       : message("step.more_after", told.size(), all.size(), std::to_string(told.back() + 1)))
              << '\n';
}

/// Throws the error that the run ends with. The window draws a tile that does not fit, but no race and no broken
/// promise.
[[noreturn]] void fail(const StepFlags& f, const Run& run) {
    const Experiment& e = run.experiment();
    try {
        count(e, &control());
    } catch (const OutOfChipMemory& error) {
        throw RunError(explain(error, *e.algorithm, e.problem, e.tiling, e.gpu) + begin_of_see_it() +
                       shell_line(command_of({"tilescope-gui"}, run.algorithm().name, f.options)));
    }
    throw RunError(failure_text(run));
}

void print_notes(const Remarks& remarks) {
    for (const std::string& note : remarks.notes) text::print_wrapped(std::cout, message("remark.note", note));
}

/// Says what the lanes of a kernel that has some are told of.
void print_lanes_note(const LaneWalk& lanes, const Run& run) {
    if (!run.algorithm().kernel->laned) return;
    text::print_wrapped(std::cout, lanes.exists() ? message("step.lanes")
                                                  : message("step.lanes_are_not_timed", run.experiment().gpu.name));
}

void tell(const StepFlags& f, const Request& request, Run& run, const Remarks& remarks) {
    const StepsWanted w = wanted_of(f, run);
    if (f.at) {
        run.seek(*f.at);
        if (f.options.json) return print_json(run, w.sm, {*f.at}, remarks);
        print_heading(run, request, w, *f.at, *f.at);
        print_notes(remarks);
        LaneWalk lanes(run);
        print_lanes_note(lanes, run);
        print_everything(run, lanes, w.sm);
        return;
    }
    const bool fails = shows_failure(w, run);
    std::vector<Index> all = steps_of(run, w);
    if (all.empty() && !fails) throw UsageError(why_nothing(run, w));
    if (all.empty()) all.push_back(run.failure()->tick);  // the first operation that was asked for fails
    const std::vector<Index> told = page_of(all, f, fails);
    if (f.options.json) {
        print_json(run, w.sm, told, remarks);
    } else {
        print_heading(run, request, w, told.front(), told.back());
        print_notes(remarks);
        LaneWalk lanes(run);
        if (f.table) {
            print_steps_table(run, w.sm, told);
        } else {
            print_lanes_note(lanes, run);
            print_steps(run, lanes, w, told);
        }
        print_more(all, told);
    }
    if (fails) fail(f, run);
}

void step(StepFlags f) {
    const Algorithm& algorithm = chosen_algorithm(f.algorithm, f.options);
    const Request request = read_request(f.options, algorithm);
    remark(request.remark);
    const Problem problem = problem_of(algorithm, request);
    const Tiling tiling = choose_tiling(algorithm, problem, request.wish, request.gpu);
    in_memory(message("step.needs_less"), [&] {
        Run run = make_run({&algorithm, problem, tiling, request.gpu}, f.options, request, &control());
        const Remarks remarks = remarks_on(run, request);
        tell(f, request, run, remarks);
        if (!remarks.wrong_outputs.empty())
            throw RunError(message("step.computes_wrong", run.algorithm().name, text::listed(remarks.wrong_outputs)));
    });
}

void add_number(CLI::App& app, const char* flag, std::optional<Index>& value, const char* help_id) {
    add_whole_option(app, flag, {0, Whole().most, 0}, message(help_id).c_str(), [&value](Index n) { value = n; });
}

}  // namespace

void add_step(CLI::App& app) {
    static StepFlags flags;
    CLI::App* sub = app.add_subcommand("step", message("step.command"));
    add_algorithm_argument(*sub, flags.algorithm);
    add_number(*sub, "--at", flags.at, "step.at_flag");
    add_number(*sub, "--from", flags.from, "step.from_flag");
    add_number(*sub, "--to", flags.to, "step.to_flag");
    add_number(*sub, "--sm", flags.sm, "step.sm_flag");
    add_number(*sub, "--line", flags.line, "step.line_flag");
    add_number(*sub, "--launch", flags.launch, "step.launch_flag");
    add_number(*sub, "--block", flags.block, "step.block_flag");
    sub->add_flag("--table", flags.table, message("step.table_flag"));
    add_problem_options(*sub, flags.options);
    add_input_options(*sub, flags.options);
    add_json_option(*sub, flags.options);
    sub->get_option("--table")->excludes("--at", "--json");
    sub->footer(examples({"step.example_table", "step.example_line", "step.example_at", "step.example_lanes"}));
    sub->callback([] { step(flags); });
}

}  // namespace tilescope::cli
