// `tilescope reconcile ALGO [FILE.csv]`: the hardware counters of any kernel beside the model's levels. Without a file,
// the command that writes one.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/said.hpp"
#include "core/text/message.hpp"
#include "core/text/page.hpp"
#include "core/text/words.hpp"
#include "device/levels.hpp"
#include "lab/flags/command.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/values.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/timing.hpp"

namespace tilescope::cli {
using namespace lab;
using namespace device;
using text::message;
namespace {

struct ReconcileFlags {
    Options options;
    std::string algorithm, file, only;
    Index runs = 1;
};

/// Prints the command with its list of metrics broken after each comma. A shell joins the lines again.
void print_command(std::vector<std::string> words) {
    const std::string program = words.back(), list = words[words.size() - 2];
    words.resize(words.size() - 2);
    std::cout << shell_line(words) << " \\\n";
    for (const char c : list) std::cout << c << (c == ',' ? "\\\n" : "");
    std::cout << " \\\n" << program << '\n';
}

void print_how(const Experiment& e, const ReconcileFlags& f) {
    const std::string file = std::string(e.algorithm->name) + ".csv";
    if (f.options.json) {
        Json j = {{"schema", "tilescope.reconcile/1"}};
        j.update(lab::to_json(e));
        j["command"] = ncu_command(file);
        std::cout << j.dump(2) << '\n';
        return;
    }
    text::print_wrapped(std::cout, message("reconcile.count", e.gpu.name));
    std::cout << '\n';
    print_command(ncu_command(file));
    std::vector<std::string> next = command_of({"tilescope", "reconcile"}, e.algorithm->name, f.options);
    next.push_back(file);
    text::print_wrapped(std::cout,
                        '\n' + message("reconcile.then", describe(e.problem, *e.algorithm->computes), tiles_text(e)));
    std::cout << '\n' << shell_line(next) << '\n';
}

void print(const Reconciled& r) {
    const Experiment& e = r.report.experiment;
    text::print_wrapped(std::cout, message("reconcile.title", e.algorithm->name, e.gpu.name,
                                           describe(e.problem, *e.algorithm->computes), tiles_text(e)));
    text::print_wrapped(std::cout, about_launches(r));
    for (const std::string& note : r.levels.notes) text::print_wrapped(std::cout, note);
    std::cout << '\n';
    levels_table(r.levels.there).print(std::cout);
    std::cout << '\n';
    for (const std::string& words : remarks_on(r)) text::print_wrapped(std::cout, words);
}

void reconcile(ReconcileFlags f) {
    const Algorithm& algorithm = chosen_algorithm(f.algorithm, f.options);
    const Request request = read_request(f.options, algorithm);
    if (f.file.empty() && !f.only.empty()) throw UsageError(message("reconcile.only_of_file", text::shown(f.only)));
    if (f.file.empty())
        return with_tiling(algorithm, f.options, request, [&](const Experiment& e) {
            count(e, &control());  // throws for tiles that do not fit, before the user measures anything
            print_how(e, f);
        });
    const auto launches = of_file(f.file, [&] { return read_launches(f.file, f.only); });
    with_tiling(algorithm, f.options, request, [&](const Experiment& e) {
        Reconciled r{count_and_time(e, &control()), launches, {}, f.file, f.only, f.runs};
        r.levels = of_file(f.file, [&] { return levels_of(r.report, launches, f.runs); });
        if (f.options.json)
            std::cout << to_json(r).dump(2) << '\n';
        else
            print(r);
    });
}

}  // namespace

void add_reconcile(CLI::App& app) {
    static ReconcileFlags flags;
    CLI::App* sub = app.add_subcommand("reconcile", message("reconcile.command"));
    add_algorithm_argument(*sub, flags.algorithm);
    sub->add_option("FILE", flags.file, message("reconcile.file"))->type_name("FILE.csv");
    sub->add_option("--only", flags.only, message("reconcile.only_flag"))->type_name("NAME");
    add_whole_option(*sub, "--runs", {1, 1'000'000, 10}, message("reconcile.runs_flag").c_str(), [](Index n) {
        flags.runs = n;
    })->default_str("1");
    add_problem_options(*sub, flags.options);
    add_json_option(*sub, flags.options);
    sub->footer(examples({"reconcile.example", "reconcile.example_file"}) + '\n' +
                paragraph(message("reconcile.footer")));
    sub->callback([] { reconcile(flags); });
}

}  // namespace tilescope::cli
