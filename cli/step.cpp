// `tilescope step ALGO`: what the window says, step by step, in a terminal.
#include "cli/step.hpp"

#include <iostream>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/words.hpp"
#include "lab/flags/values.hpp"
#include "show/run/make_run.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::cli {
using namespace lab;
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

/// UsageError unless first <= value <= last. `what` says what these numbers are.
void check_range(const char* flag, Index value, Index first, Index last, const std::string& what) {
    if (value < first || value > last)
        throw UsageError(asked(flag, value) + ": " + what + " from " + std::to_string(first) + " to " +
                         std::to_string(last) + "; try " + asked(flag, value < first ? first : last));
}

void check_positions(const StepFlags& f, const Run& run) {
    const std::string what = std::string("the operations of ") + run.algorithm().name + " are numbered here";
    if (f.at && (f.from || f.to))
        throw UsageError(asked("--at", *f.at) + ": is one operation, --from and --to are many; leave them out");
    const auto check_alone = [&](const char* flag, const std::optional<Index>& value, const char* of) {
        if (f.at && value)
            throw UsageError(asked(flag, *value) + ": --at " + std::to_string(*f.at) +
                             " is one operation, whatever its " + of + "; leave one of the two out");
    };
    check_alone("--line", f.line, "line");
    check_alone("--launch", f.launch, "launch");
    check_alone("--block", f.block, "thread block");
    if (f.at) check_range("--at", *f.at, 0, run.ticks(), what);
    if (f.from) check_range("--from", *f.from, 0, run.ticks(), what);
    if (f.to) check_range("--to", *f.to, f.from.value_or(0), run.ticks(), what);
}

void check_line(const StepFlags& f, const Run& run) {
    if (!f.line) return;
    const auto code = code_for(run.algorithm(), run.experiment().problem);
    check_range("--line", *f.line, code.front().number, code.back().number,
                std::string("the pseudo-code of ") + run.algorithm().name + " has lines");
}

/// The SM and the thread block to tell of: those that were asked for, or those of the failure.
StepsWanted whose(const StepFlags& f, const Run& run) {
    StepsWanted w;
    const Schedule& schedule = run.schedule();
    const auto& launches = run.trace().launches();
    if (f.launch)
        check_range("--launch", *f.launch, 1, static_cast<Index>(launches.size()), "launches are numbered here");
    check_range("--sm", f.sm.value_or(0), 0, schedule.sms_used() - 1, "SMs with something to show are numbered");
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
        check_range("--block", *f.block, 0, last,
                    "thread blocks of launch " + std::to_string(launch + 1) + " that are shown are numbered");
    }
    if (f.sm && *f.sm != p->sm)
        throw UsageError(asked("--sm", *f.sm) + ": thread block " + std::to_string(*f.block) + " runs on SM " +
                         std::to_string(p->sm) + "; leave --sm out");
    w.sm = p->sm, w.launch = launch;
    return w;
}

/// Why no step matches the flags.
std::string why_nothing(const Run& run, const StepsWanted& w) {
    const std::string idle = "SM " + std::to_string(w.sm) + " does nothing there; leave it out";
    if (!w.line) return (w.launch ? asked("--launch", *w.launch + 1) : asked("--from", w.from)) + ": " + idle;
    return asked("--line", *w.line) + ": SM " + std::to_string(w.sm) +
           " does nothing on that line here; `tilescope explain " + run.algorithm().name +
           "` shows on which something happens";
}

StepsWanted wanted_of(const StepFlags& f, const Run& run) {
    check_positions(f, run);
    check_line(f, run);
    StepsWanted w = whose(f, run);
    if (f.line) w.line = static_cast<std::uint16_t>(*f.line);
    w.from = f.from.value_or(0), w.to = f.to.value_or(run.ticks());
    return w;
}

/// Whether the failure is among what was asked for.
bool shows_failure(const StepsWanted& w, const Run& run) {
    if (!run.failure()) return false;
    const Failure& f = *run.failure();
    return w.to >= f.tick && (!w.launch || *w.launch == f.place.launch) && (!w.block || *w.block == f.place.block) &&
           (!w.line || *w.line == f.place.line);
}

/// The steps that are told at once: the last ones of a run that fails, the first ones of any other.
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

void print_steps(Run& run, const StepsWanted& w, const std::vector<Index>& steps) {
    for (std::size_t k = 0; k < steps.size(); ++k) {
        if (k > 0 && !w.launch && !w.line && steps[k] > steps[k - 1] + 1)
            std::cout << "\n… until operation " << text::grouped(steps[k] - 1) << ", SM " << w.sm << " is idle\n";
        run.seek(steps[k]);
        std::cout << '\n';
        print_step(run, w.sm);
    }
}

/// What there is to say of the whole run besides its steps.
struct Remarks {
    std::vector<std::string> notes;  // on its inputs, and on outputs that are wrong
    std::vector<std::string> wrong_outputs;
};

/// Checks the output that the run ends with, because a user's algorithm may be wrong.
Remarks remarks_on(Run& run, const Request& request) {
    Remarks r{request.notes, {}};
    if (!run.algorithm().file || !run.has_values() || run.failure()) return r;
    run.seek(run.ticks());
    const Run::StoredError e = run.stored_error();
    if (!is_wrong(run, e)) return r;
    r.wrong_outputs = {run.algorithm().computes->output};
    r.notes.push_back(std::string(run.algorithm().name) + ": " + r.wrong_outputs[0] + " is wrong: max error " +
                      text::number(e.max_abs) + " beside values up to " + text::number(e.largest));
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
    for (const Index step : steps) {
        run.seek(step);
        j["steps"].push_back(step_json(run, sm));
    }
    std::cout << j.dump(2) << '\n';
}

/// What there is beyond the page.
void print_more(const std::vector<Index>& all, const std::vector<Index>& told) {
    if (told.size() == all.size()) return;
    std::cout << '\n' << told.size() << " of " << text::grouped(static_cast<Index>(all.size())) << " operations; ";
    if (told.back() == all.back())
        std::cout << "--from 0 begins with the first\n";
    else
        std::cout << "--from " << told.back() + 1 << " goes on, --to N shows all up to there\n";
}

/// Throws what the run ends with. The window draws a tile that does not fit, but no race and no broken promise.
[[noreturn]] void fail(const StepFlags& f, const Run& run) {
    const Experiment& e = run.experiment();
    try {
        count(e, &control());
    } catch (const OutOfChipMemory& error) {
        throw RunError(explain(error, *e.algorithm, e.problem, e.tiling, e.gpu) +
                       "\n  see it: " + shell_line(command_of({"tilescope-gui"}, run.algorithm().name, f.options)));
    }
    throw RunError(failure_text(run));
}

void print_notes(const Remarks& remarks) {
    for (const std::string& note : remarks.notes) text::print_wrapped(std::cout, "Note: " + note + ".");
}

void tell(const StepFlags& f, const Request& request, Run& run, const Remarks& remarks) {
    const StepsWanted w = wanted_of(f, run);
    if (f.at) {
        run.seek(*f.at);
        if (f.options.json) return print_json(run, w.sm, {*f.at}, remarks);
        print_heading(run, request, w, *f.at, *f.at);
        print_notes(remarks);
        print_everything(run, w.sm);
        return;
    }
    const bool fails = shows_failure(w, run);
    std::vector<Index> all = steps_of(run, w);
    if (all.empty() && !fails) throw UsageError(why_nothing(run, w));
    if (all.empty()) all.push_back(run.failure()->tick);  // the very first thing on that line fails
    const std::vector<Index> told = page_of(all, f, fails);
    if (f.options.json) {
        print_json(run, w.sm, told, remarks);
    } else {
        print_heading(run, request, w, told.front(), told.back());
        print_notes(remarks);
        if (f.table)
            print_steps_table(run, w.sm, told);
        else
            print_steps(run, w, told);
        print_more(all, told);
    }
    if (fails) fail(f, run);
}

void step(const StepFlags& f) {
    const Algorithm& algorithm = chosen_algorithm(f.algorithm);
    const Request request = read_request(f.options, algorithm);
    remark(request.remark);
    const Problem problem = problem_of(algorithm, request);
    const Tiling tiling = choose_tiling(algorithm, problem, request.wish, request.gpu);
    in_memory("try fewer --heads, or a shorter --seq", [&] {
        Run run = make_run({&algorithm, problem, tiling, request.gpu}, f.options, request, &control());
        const Remarks remarks = remarks_on(run, request);
        tell(f, request, run, remarks);
        if (!remarks.wrong_outputs.empty())
            throw RunError(run.algorithm().name + std::string(" computes a wrong ") +
                           text::listed(remarks.wrong_outputs) + "; mend the program");
    });
}

void add_number(CLI::App& app, const char* flag, std::optional<Index>& value, const char* help) {
    add_whole_option(app, flag, {0, Whole().most, 0}, help, [&value](Index n) { value = n; });
}

}  // namespace

void add_step(CLI::App& app) {
    static StepFlags flags;
    CLI::App* sub =
        app.add_subcommand("step", "Tell a run operation by operation, as the window does: what one SM does and why");
    add_algorithm_argument(*sub, flags.algorithm);
    add_number(*sub, "--at", flags.at,
               "One operation with all there is to it: every tile, the loops, memory, counters");
    add_number(*sub, "--from", flags.from, "The first operation (0: before anything has run)");
    add_number(*sub, "--to", flags.to, "The last operation");
    add_number(*sub, "--sm", flags.sm, "The SM to speak of (0)");
    add_number(*sub, "--line", flags.line, "Only visits of this line of the pseudo-code");
    add_number(*sub, "--launch", flags.launch, "Only this launch, counted from 1");
    add_number(*sub, "--block", flags.block, "Only this thread block of the launch, on whichever SM it runs");
    sub->add_flag("--table", flags.table, "A row for each operation: its formula and what it makes of the first row");
    add_problem_options(*sub, flags.options);
    add_input_options(*sub, flags.options);
    add_json_option(*sub, flags.options);
    sub->get_option("--table")->excludes("--at", "--json");
    sub->footer(
        "Examples:\n"
        "  tilescope step flash_v2 --gpu toy --seq 16 --dim 4 --heads 1 --dtype f32 --br 4 --bc 4 --table\n"
        "  tilescope step flash_v2 --seq 256 --heads 1 --br 64 --bc 64 --line 9\n"
        "  tilescope step flash_v2 --seq 512 --br 64 --bc 64 --at 60");
    sub->callback([] { step(flags); });
}

}  // namespace tilescope::cli
