// `tilescope measured [ALGO...]`: the measurements that ship, beside what the model says of the same cases.
#include <algorithm>
#include <iostream>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/said.hpp"
#include "cli/written_as.hpp"
#include "core/text/message.hpp"
#include "core/text/page.hpp"
#include "device/kernel_case.hpp"
#include "device/measured_cases.hpp"
#include "lab/flags/table.hpp"

namespace tilescope::cli {
using namespace lab;
using namespace device;
using text::message;
namespace {

/// Lines around tables: comments in LaTeX, paragraphs in Markdown.
struct Printer {
    WrittenAs as;

    void line(const std::string& words) const {
        text::print_wrapped(std::cout, words, as == WrittenAs::latex ? "% " : "");
        if (as == WrittenAs::markdown) std::cout << '\n';
    }
    void table(const text::Table& table) const {
        if (as == WrittenAs::text) std::cout << '\n';
        table.print(std::cout, table_format(as));
        std::cout << '\n';
    }
};

void print_cases(const Printer& out, const MeasuredCases& cases) {
    for (const auto& [place, there] : by_place(cases)) {
        out.line(place);
        out.table(cases_table(there));
    }
    out.line(message("measured.about_cases"));
}

void print_summary(const Printer& out, const MeasuredCases& cases) {
    out.line(message("measured.about_ratios"));
    out.table(summary_table(cases));
    out.line(message("measured.one_by_one"));
}

void measured(const MeasuredFlags& flags, const std::string& format) {
    const WrittenAs as = written_as(format, flags.options.json);
    const MeasuredCases all = shipped_cases();
    if (all.empty()) throw RunError(message("measured.none_ship"));
    MeasuredCases cases = asked_cases(all, flags);
    {
        const Progress progress([] {
            return message("measured.modelling", std::to_string(control().blocks_done),
                           std::to_string(control().blocks_total));
        });
        add_model(cases, all, &control());
    }
    if (as == WrittenAs::json) return void(std::cout << to_json(cases).dump(2) << '\n');
    if (as == WrittenAs::csv) return void(std::cout << as_csv(cases));
    asks(flags) ? print_cases({as}, cases) : print_summary({as}, cases);
}

/// Leaves the flags that say which cases are meant; all others would change the model.
void add_filters(CLI::App& sub, MeasuredFlags& flags) {
    std::vector<std::string_view> found_by = {"model", "phase", "kv-heads", "dim",  "dim-v",
                                              "br",    "bc",    "splits",   "pack", "gpu"};
    const std::vector<const Knob*> roles = chosen_roles();
    for (const Knob* k : roles) found_by.emplace_back(k->name);
    add_problem_options(sub, flags.options);
    for (const Flag& flag : lab::flags())
        if (flag.of != FlagOf::sizes && std::ranges::find(found_by, flag.name) == found_by.end())
            sub.remove_option(sub.get_option(std::string("--") + flag.name));
    for (const char* flag : {"--batch", "--heads", "--kv-heads", "--seq", "--seq-q", "--seq-k", "--dim", "--dim-v",
                             "--dtype", "--br", "--bc", "--gpu"})
        sub.get_option(flag)->default_str(message("measured.any"));
    for (const Knob* k : roles) sub.get_option(std::string("--") + k->name)->default_str(message("measured.any"));
    sub.get_option("--br")->description(message("measured.br_flag"));
    sub.get_option("--bc")->description(message("measured.bc_flag"));
    sub.get_option("--gpu")->description(message("measured.gpu_flag"));
    auto* causal = sub.add_flag_callback(
        "--causal", [&flags] { flags.causal = true; }, message("measured.causal_flag"));
    auto* full = sub.add_flag_callback(
        "--no-causal", [&flags] { flags.causal = false; }, message("measured.no_causal_flag"));
    causal->excludes(full);
    sub.add_option("--kernel", flags.kernel, message("measured.kernel_flag"))
        ->type_name("WHOSE")
        ->default_str(message("measured.any"));
}

}  // namespace

void add_measured(CLI::App& app) {
    static MeasuredFlags flags;
    static std::string format;
    flags.options.gpu = "";
    CLI::App* sub = app.add_subcommand("measured", message("measured.command"));
    sub->add_option("ALGO,--algorithm", flags.algorithms, message("measured.algorithms"));
    add_filters(*sub, flags);
    add_format_option(*sub, format, message("measured.csv"));
    add_json_option(*sub, flags.options);
    sub->get_option("--json")->description(message("format.json_flag"));
    sub->footer(
        examples({"measured.example", "measured.example_causal", "measured.example_csv", "measured.example_pytorch"}));
    sub->callback([] {
        for (std::string& name : flags.algorithms) name = chosen_algorithm(name).name;
        measured(flags, format);
    });
}

}  // namespace tilescope::cli
