// `tilescope measured [ALGO...]`: the measurements that ship, beside what the model says of the same cases.
#include <algorithm>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/written_as.hpp"
#include "core/text/page.hpp"
#include "device/measured_cases.hpp"
#include "lab/flags/table.hpp"

namespace tilescope::cli {
using namespace lab;
using namespace device;
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
    out.line(
        "Ratios: the model's number over the measured one. SM traffic: bytes read and written, counted by Nsight "
        "Compute and by the model; DRAM reads: with caches cold. -: not measured there. Heads: batch x heads (of K and "
        "V, where fewer).");
}

void print_summary(const Printer& out, const MeasuredCases& cases) {
    out.line(
        "Ratios of the model's numbers over measured ones: the median of the cases, and for the time from the "
        "least to the most. SM traffic: as counted; DRAM reads: of cases of more than 20 MB.");
    out.table(summary_table(cases));
    out.line(
        "One by one: name algorithms, or use --gpu, --dim, --seq, --causal, ... as in `tilescope measured flash_v2 "
        "--dim 128 --causal`. On a kernel of your own: `tilescope reconcile flash_v2`.");
}

void measured(const MeasuredFlags& flags, const std::string& format) {
    const WrittenAs as = written_as(format, flags.options.json);
    const MeasuredCases all = shipped_cases();
    if (all.empty()) throw RunError("measured: no measurements ship with this tilescope; build it with docs/measured");
    MeasuredCases cases = asked_cases(all, flags);
    {
        const Progress progress([] {
            return "modelling: " + std::to_string(control().blocks_done) + " of " +
                   std::to_string(control().blocks_total) + " cases";
        });
        add_model(cases, all, &control());
    }
    if (as == WrittenAs::json) return void(std::cout << to_json(cases).dump(2) << '\n');
    if (as == WrittenAs::csv) return void(std::cout << as_csv(cases));
    asks(flags) ? print_cases({as}, cases) : print_summary({as}, cases);
}

/// The flags that say which cases are meant; all others would change the model.
void add_filters(CLI::App& sub, MeasuredFlags& flags) {
    constexpr const char* found_by[] = {"model", "phase", "kv-heads", "dim",  "dim-v",
                                        "br",    "bc",    "splits",   "pack", "gpu"};
    add_problem_options(sub, flags.options);
    for (const Flag& flag : lab::flags())
        if (flag.of != FlagOf::sizes && std::ranges::find(found_by, std::string_view(flag.name)) == std::end(found_by))
            sub.remove_option(sub.get_option(std::string("--") + flag.name));
    for (const char* flag : {"--batch", "--heads", "--kv-heads", "--seq", "--seq-q", "--seq-k", "--dim", "--dim-v",
                             "--dtype", "--br", "--bc", "--gpu"})
        sub.get_option(flag)->default_str("any");
    sub.get_option("--br")->description("Tile rows");
    sub.get_option("--bc")->description("Tile columns (keys)");
    sub.get_option("--gpu")->description("Measured on this one: H200 or H100-SXM");
    auto* causal = sub.add_flag_callback(
        "--causal", [&flags] { flags.causal = true; }, "Causal ones only");
    auto* full = sub.add_flag_callback(
        "--no-causal", [&flags] { flags.causal = false; }, "Those without a mask only");
    causal->excludes(full);
    sub.add_option("--kernel", flags.kernel, "tilescope (the kernels here) or pytorch (its FlashAttention-2)")
        ->type_name("WHOSE")
        ->default_str("any");
}

}  // namespace

void add_measured(CLI::App& app) {
    static MeasuredFlags flags;
    static std::string format;
    flags.options.gpu = "";
    CLI::App* sub = app.add_subcommand("measured", "What was measured on GPUs, beside the model (needs no GPU)");
    sub->add_option("ALGO,--algorithm", flags.algorithms, "Algorithms (default: all that were measured)");
    add_filters(*sub, flags);
    add_format_option(*sub, format, "a line per case");
    add_json_option(*sub, flags.options);
    sub->get_option("--json")->description("Short for --format json");
    sub->footer(
        "Examples:\n"
        "  tilescope measured\n"
        "  tilescope measured flash_v2 --dim 128 --causal --gpu H200\n"
        "  tilescope measured flash_v1 flash_v2 --seq 4096 --heads 16 --br 64 --bc 64 --format csv\n"
        "  tilescope measured --kernel pytorch --seq-k 8192");
    sub->callback([] {
        for (std::string& name : flags.algorithms) name = chosen_algorithm(name).name;
        measured(flags, format);
    });
}

}  // namespace tilescope::cli
