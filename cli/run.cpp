// `tilescope run ALGO`: one algorithm on one problem, everything it moves and computes.
#include <iostream>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/output_files.hpp"
#include "cli/progress.hpp"
#include "cli/with_option.hpp"
#include "core/machine/counters.hpp"
#include "core/machine/launch_info.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/ending.hpp"
#include "lab/flags/small_run.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/model/timing.hpp"
#include "lab/model/with_forward.hpp"
#include "lab/own/own.hpp"
#include "lab/run/judgement.hpp"
#include "lab/run/reference.hpp"
#include "lab/study/study.hpp"
#include "lab/system/atomic_file.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

void print_traffic(const Report& r) {
    const bool reduces = r.counters.hbm_reduce > 0;
    std::vector<std::string> heads = {"tensor", "role", "in HBM", "read", "written"};
    if (reduces) heads.emplace_back("reduced");
    text::Table table(heads, 2);
    const auto add = [&](const std::string& name, const std::string& role, Bytes size, const Traffic& t) {
        std::vector<std::string> cells = {name, role, text::bytes(size), text::bytes(t.read), text::bytes(t.write)};
        if (reduces) cells.push_back(text::bytes(t.reduce));
        table.add(cells);
    };
    for (const TensorReport& t : r.tensors) add(t.name, name_of(t.role), t.bytes, t.traffic);
    add("total", "", r.hbm_footprint, Traffic::of(r.counters));
    table.print(std::cout, "  ");
}

/// SM traffic, which part of it reaches DRAM, and the compulsory bytes.
void print_levels(const Report& r) {
    const Bytes reduced = r.counters.hbm_reduce;
    text::Table table({"level", "read", "written", "FLOP per byte", "what"}, 1);
    table.add({"SM traffic", text::bytes(r.counters.hbm_read), text::bytes(r.counters.hbm_write),
               text::number(r.arithmetic_intensity()),
               reduced > 0 ? "crosses an SM's boundary, and " + text::bytes(reduced) + " more to be added"
                           : std::string("crosses an SM's boundary: the papers' HBM accesses")});
    if (const auto dram = r.dram())
        table.add({"DRAM traffic", text::bytes(dram->read), text::bytes(dram->written),
                   text::number(r.dram_intensity().value_or(0)),
                   "the L2 has " + text::percent(r.l2_hit_rate().value_or(0)) + " of what is read" +
                       (dram->written == 0 ? ", and keeps what is written" : "") + " (modelled)"});
    else if (r.time)
        table.add({"DRAM traffic", "-", "-", "-", "not modelled: " + r.time->no_dram});
    table.add({"compulsory", text::bytes(r.compulsory_read()), text::bytes(r.compulsory_written()), "",
               "inputs read once, outputs written once"});
    table.print(std::cout, "  ");
}

void print_time(const Report& r) {
    if (!r.time) {
        text::print_wrapped(std::cout, '\n' + text::capitalised(why_incomplete(r)) + '.');
        return;
    }
    const RunTime& t = *r.time;
    const Metric& speed = *find_metric("useful_flops_per_s");
    std::cout << "\nTime (modelled): " << text::microseconds(t.us());
    if (r.counters.matmul_flops > 0) std::cout << ", " << shown(speed, speed.of(r)) << " of useful products";
    std::cout << '\n';
    text::Table table({"launch", "thread blocks", "on an SM", "limited by", "warps", "registers", "waves", "SMs",
                       "tail", "time", "bound"});
    for (const LaunchTime& l : t.launches)
        table.add({l.kernel, text::grouped(l.blocks), std::to_string(l.residency.blocks), limited_by(l),
                   std::to_string(l.warps), std::to_string(l.registers), text::count(l.waves), text::grouped(l.sms),
                   text::percent(l.tail), text::microseconds(l.us), name_of(l.bound)});
    table.print(std::cout, "  ");
    text::print_wrapped(std::cout, verdict(t, r.experiment) + ' ' + basis(t, r.experiment), "  ");
    text::print_wrapped(std::cout, about_warm(r), "  ");
}

void print_on_chip(const Report& r) {
    const GpuSpec& g = r.experiment.gpu;
    std::cout << "\nOn chip (peak of a thread block, of " << text::binary_bytes(g.sram_per_block) << " of SRAM and "
              << text::binary_bytes(g.registers_per_sm) << " of registers)\n";
    text::Table table({"launch", "SRAM", "registers"});
    for (const LaunchInfo& l : r.launches)
        table.add({l.kernel, text::binary_bytes(l.sram_peak), text::binary_bytes(l.register_peak)});
    table.print(std::cout, "  ");
}

void print_arithmetic(const Report& r) {
    const Counters& c = r.counters;
    const auto big = [](Count n) { return text::count(static_cast<double>(n)); };
    const auto moved = [](Bytes read, Bytes written) {
        return text::bytes(read) + " read, " + text::bytes(written) + " written";
    };
    std::cout << "\nArithmetic (counted)\n"
              << "  matmul FLOPs " << big(c.matmul_flops) << ", exponentials " << big(c.exps) << ", other FLOPs "
              << big(c.other_flops) << '\n'
              << "  SRAM " << moved(c.sram_read, c.sram_write) << "; registers "
              << moved(c.register_read, c.register_write) << '\n';
}

std::string as_published(const Experiment& e) {
    const PublishedTiles p = published_tiles(*e.algorithm, e.problem, e.gpu);
    const Tiling cut = cut_to(e.problem, p.tiling);
    const bool as_is = e.tiling.br == cut.br && e.tiling.bc == cut.bc;
    return p.source + (as_is ? "" : ", made to fit");
}

/// Where the tiles come from, if the user left them open.
std::string source_of_tiles(const Experiment& e, const Wish& wish) {
    switch (wish.rule) {
        case TileRule::paper:
            return "FlashAttention-1's rule (Algorithm 1, line 1), made to fit";
        case TileRule::best:
            return std::string("the least ") + name_of(wish.objective) + " of those tried";
        default:
            return as_published(e);
    }
}

/// ", S 22 (FlashAttention-2's rule)" where the keys are cut into parts.
std::string splits_text(const Experiment& e, const Wish& wish) {
    if (!has_splits(e.algorithm->knobs)) return "";
    const std::string rule = e.algorithm->kernel->parts      ? "its library"
                             : wish.splits == SplitRule::fa2 ? "FlashAttention-2"
                                                             : "FlashAttention-3";
    return ", S " + std::to_string(e.tiling.splits) + (wish.tiling.splits == 0 ? " (" + rule + "'s rule)" : "");
}

/// ", 4 heads packed (FlashAttention-2's rule)" where their rows share a tile.
std::string packing_text(const Experiment& e, const Wish& wish) {
    if (e.problem.packed == 1) return "";
    return ", " + std::to_string(e.problem.packed) + " heads packed" +
           (wish.packing == Packing::automatic ? " (FlashAttention-2's rule)" : "");
}

/// "Br 128, Bc 64 (as FlashAttention-2's released kernel ... has them)": the knobs, and which of them were left open.
std::string knobs_text(const Experiment& e, const Wish& wish) {
    std::vector<std::string> turned, open;
    for (const Knob& k : e.algorithm->knobs) {
        if (k.value == &Tiling::splits) continue;
        turned.push_back(std::string(k.symbol) + ' ' + std::to_string(e.tiling.*k.value));
        if (wish.tiling.*k.value == 0) open.push_back(k.symbol);
    }
    const std::string said = text::join(turned, ", ") + splits_text(e, wish) + packing_text(e, wish);
    if (open.empty()) return said;
    const bool all = open.size() == turned.size() && !has_splits(e.algorithm->knobs) && e.problem.packed == 1;
    return said + " (" + (all ? "" : text::join(open, ", ") + ": ") + source_of_tiles(e, wish) + ')';
}

void print_errors(const Report& r, const std::string& of_what = "") {
    if (r.errors.empty()) return;
    text::print_wrapped(std::cout, "\nError against the double-precision reference" + of_what);
    const auto print = [&](const std::string& name, const OutputError& e) {
        text::print_wrapped(std::cout, (r.errors.size() > 1 ? name + ": " : "") + describe_error(r, name, e), "  ");
    };
    const std::string first = r.experiment.algorithm->computes->output;
    print(first, r.errors.at(first));
    for (const auto& [name, error] : r.errors)
        if (name != first) print(name, error);
}

/// Checks of a user's program that was only counted. TileScope's own programs are tested.
void print_unchecked(const Report& r, const std::optional<Report>& small, const Request& request) {
    if (!r.experiment.algorithm->file || r.numeric) return;
    if (!small) return text::print_wrapped(std::cout, "\nOutputs: not checked, for nothing was computed.");
    Request of_small = request;
    of_small.problem = small_problem(request.problem);
    print_errors(*small, ", of a small problem with the same tiles (" +
                             describe(of_small, *r.experiment.algorithm->computes) + ")");
}

void print_text(const Report& r, const std::string& why_mode, const Request& request) {
    const Experiment& e = r.experiment;
    std::ostringstream heading;
    heading << e.algorithm->name << ": " << idea_of(*e.algorithm) << '\n'
            << "  source   " << source_of(*e.algorithm) << '\n'
            << "  problem  " << describe(request, *e.algorithm->computes) << '\n'
            << "  tiles    " << knobs_text(e, request.wish) << '\n'
            << "  gpu      " << describe(e.gpu) << '\n'
            << "  mode     " << (r.numeric ? "numeric" : "count") << " (" << why_mode << ")\n";
    text::print_wrapped(std::cout, heading.str(), "", std::string(11, ' '));
    if (r.forward)
        text::print_wrapped(std::cout,
                            std::string("with     the forward pass, ") + r.forward->name +
                                ": its counts, tensors and launches are among these; it keeps " +
                                text::bytes(kept_for_backward(e)) + " besides O",
                            "  ", std::string(11, ' '));
    std::cout << "\nTraffic (kB, MB: powers of 1000)\n";
    print_levels(r);
    std::cout << "\nSM traffic by tensor (counted)\n";
    print_traffic(r);
    std::cout << "  extra memory beyond inputs and output: " << text::bytes(r.hbm_extra) << '\n';
    text::print_wrapped(std::cout, beside_ideal(r), "  ");
    for (const std::string& note : r.notes) text::print_wrapped(std::cout, "Note: " + note + ".", "  ");
    print_arithmetic(r);
    print_on_chip(r);
    print_time(r);
    print_errors(r);
}

/// Checks a user's program on a small problem, where the problem is too large to be computed.
std::optional<Report> small_check(const Report& report, const Options& o, const Request& request) {
    if (!report.experiment.algorithm->file || report.numeric || o.mode != "auto") return std::nullopt;
    const Progress progress = Progress::blocks("running a small problem for the errors");
    return run_small(report, o, request, &control());
}

Report execute_and_compare(const Report& counted, const Options& o, const Request& request) {
    const Experiment& e = counted.experiment;
    const int threads = static_cast<int>(o.threads);
    const Inputs inputs = make_inputs(o, request, *e.algorithm);
    Report report = [&] {
        const Progress progress = Progress::blocks(std::string("running ") + e.algorithm->name);
        return with_outputs(counted, inputs, threads, &control());
    }();
    const Progress progress = Progress::blocks("comparing with the reference");
    report.errors = compare_with_reference(*e.algorithm->computes, request.problem, inputs, {report.outputs}, threads,
                                           &control())[0];
    return report;
}

void run(const Options& o, const std::string& name, const std::string& with) {
    const Algorithm& algorithm = chosen_algorithm(name);
    const bool forward = asks_for_forward(with, algorithm);
    check_ending("--out", o.out, {".npy"});
    const Request request = read_request(o, algorithm);
    remark(request.remark);
    with_tiling(algorithm, o, request, [&](const Experiment& e) {
        Report report = [&] {
            const Progress progress = Progress::blocks("counting");
            return count_and_time(e, &control());
        }();
        const ModeChoice mode = choose_mode(o, request, {report});
        OutputFiles files(o, *algorithm.computes, request.problem);  // opened before the work: this may fail
        if (mode.numeric) report = in_memory(mode.fix, [&] { return execute_and_compare(report, o, request); });
        files.write(report.outputs, request.file_rank);
        const std::optional<Report> small = small_check(report, o, request);
        if (forward) report = with_forward(report, request.wish, &control());
        report.notes.insert(report.notes.end(), request.notes.begin(), request.notes.end());
        if (o.json) {
            Json j = to_json(report);
            if (small) add_small(j, *small, small_problem(request.problem));
            std::cout << j.dump(2) << '\n';
        } else {
            print_text(report, mode.why, request);
            print_unchecked(report, small, request);
        }
        fail_where_wrong({wrong_in_short(small ? *small : report)});
    });
}

}  // namespace

void add_run(CLI::App& app) {
    static Options options;
    static std::string name, with;
    CLI::App* sub = app.add_subcommand("run", "Run one algorithm: bytes, FLOPs, memory and, with numbers, the error");
    add_algorithm_argument(*sub, name);
    add_problem_options(*sub, options);
    add_numeric_options(*sub, options);
    add_file_options(*sub, options);
    add_with_option(*sub, with);
    add_json_option(*sub, options);
    sub->footer(
        "Examples:\n"
        "  tilescope run flash_v2\n"
        "  tilescope run flash_v2 --seq 16384 --heads 64 --causal --mode count\n"
        "  tilescope run standard --softmax naive --scale 10\n"
        "  tilescope run flash_v1 --gpu H100 --br 64 --bc 128 --json\n"
        "  tilescope run flash_v2 --q q.npy --k k.npy --v v.npy --out o.npy\n"
        "  tilescope run flash_v2 --layout bshd --q q.npy --k k.npy --v v.npy    as flash-attn's tensors are\n"
        "  tilescope run softmax_online --seq-q 4000 --seq-k 25000 --mode count");
    sub->callback([] { run(options, name, with); });
}

}  // namespace tilescope::cli
