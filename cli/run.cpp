// `tilescope run ALGO`: one algorithm on one problem, everything it moves and computes.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "core/text/numbers.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "lab/flags/describe.hpp"
#include "lab/reference.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

void print_traffic(const Report& r) {
    text::Table table({"tensor", "role", "in HBM", "read", "written"}, 2);
    for (const TensorReport& t : r.tensors)
        table.add({t.name, name_of(t.role), text::bytes(static_cast<double>(t.bytes)),
                   text::bytes(static_cast<double>(t.traffic.read)),
                   text::bytes(static_cast<double>(t.traffic.write))});
    table.add({"total", "", text::bytes(static_cast<double>(r.hbm_footprint)),
               text::bytes(static_cast<double>(r.counters.hbm_read)),
               text::bytes(static_cast<double>(r.counters.hbm_write))});
    table.print(std::cout, "  ");
}

void print_launches(const Report& r) {
    const GpuSpec& g = r.experiment.gpu;
    std::cout << "\nOn chip (per thread block, of " << text::binary_bytes(g.sram_per_block) << " of SRAM and "
              << text::binary_bytes(g.registers_per_sm) << " of registers)\n";
    text::Table table({"launch", "thread blocks", "SRAM peak", "register peak", "blocks per SM", "waves (modelled)"});
    for (const LaunchInfo& l : r.launches) {
        const Occupancy o = occupancy(l, g);
        table.add({l.kernel, text::grouped(l.thread_blocks), text::binary_bytes(l.sram_peak),
                   text::binary_bytes(l.register_peak), std::to_string(o.blocks_per_sm), text::count(o.waves)});
    }
    table.print(std::cout, "  ");
}

void print_idealised(const Report& r) {
    const Algorithm& a = *r.experiment.algorithm;
    if (!a.idealised) return;
    const auto ideal = a.idealised(r.experiment.problem);
    if (!ideal) return;
    const double paper = static_cast<double>(ideal->count.hbm_read + ideal->count.hbm_write);
    std::cout << "  " << ideal->name << " counts " << text::bytes(paper)
              << ", executed here: " << text::bytes(static_cast<double>(r.counters.hbm())) << ".\n  Why: " << ideal->why
              << ".\n";
}

void print_arithmetic(const Report& r) {
    const Counters& c = r.counters;
    const auto big = [](Count n) { return text::count(static_cast<double>(n)); };
    const auto moved = [](Bytes read, Bytes written) {
        return text::bytes(static_cast<double>(read)) + " read, " + text::bytes(static_cast<double>(written)) +
               " written";
    };
    std::cout << "\nArithmetic (counted)\n"
              << "  matmul FLOPs " << big(c.matmul_flops) << ", exponentials " << big(c.exps) << ", other FLOPs "
              << big(c.other_flops) << "; " << text::number(r.arithmetic_intensity()) << " FLOP per HBM byte\n"
              << "  SRAM " << moved(c.sram_read, c.sram_write) << "; registers "
              << moved(c.register_read, c.register_write) << '\n';
}

/// "Br 64, Bc 320 (chosen: the paper's rule, made to fit)": the knobs, and which of them were left open.
std::string knobs_text(const Experiment& e, const Tiling& given) {
    std::vector<std::string> turned, open;
    for (const Knob& k : e.algorithm->knobs) {
        turned.push_back(std::string(k.symbol) + ' ' + std::to_string(e.tiling.*k.value));
        if (given.*k.value == 0) open.push_back(k.symbol);
    }
    const std::string said = text::join(turned, ", ");
    if (open.empty()) return said;
    const bool all = open.size() == turned.size();
    return said + " (" + (all ? "" : text::join(open, ", ") + ' ') + "chosen: the paper's rule, made to fit)";
}

void print_errors(const Report& r) {
    if (r.errors.empty()) return;
    std::cout << "\nError against the double-precision reference\n";
    const auto print = [&](const std::string& name, const OutputError& e) {
        std::cout << "  " << (r.errors.size() > 1 ? name + ": " : "") << describe_error(r, e) << '\n';
    };
    const std::string first = r.experiment.algorithm->computes->output;
    print(first, r.errors.at(first));
    for (const auto& [name, error] : r.errors)
        if (name != first) print(name, error);
}

void print_text(const Report& r, const std::string& why_mode, const Tiling& given) {
    const Experiment& e = r.experiment;
    std::cout << e.algorithm->name << ": " << e.algorithm->idea << '\n'
              << "  source   " << e.algorithm->paper << '\n'
              << "  problem  " << describe(e.problem, *e.algorithm->computes) << '\n'
              << "  tiles    " << knobs_text(e, given) << '\n'
              << "  gpu      " << describe(e.gpu) << '\n'
              << "  mode     " << (r.numeric ? "numeric" : "count") << " (" << why_mode << ")\n\n"
              << "HBM traffic (counted, bytes that cross an SM's boundary)\n";
    print_traffic(r);
    std::cout << "  extra memory beyond inputs and output: " << text::bytes(static_cast<double>(r.hbm_extra)) << '\n';
    print_idealised(r);
    for (const std::string& note : r.notes) std::cout << "  Note: " << note << ".\n";
    print_arithmetic(r);
    print_launches(r);
    print_errors(r);
}

void run(const Options& o, const std::string& name) {
    const Algorithm& algorithm = chosen_algorithm(name);
    const Request request = resolve(o, algorithm);
    with_tiling(algorithm, o, request, [&](const Experiment& e) {
        Report report = [&] {
            const Progress progress = Progress::blocks("counting");
            return count(e, &control());
        }();
        const ModeChoice mode = choose_mode(o, request, {report});
        if (mode.numeric) {
            const Inputs inputs = inputs_for(o, request, algorithm, &control());
            {
                const Progress progress = Progress::blocks(std::string("running ") + algorithm.name);
                report = execute(e, inputs, static_cast<int>(o.threads), &control());
            }
            const Progress progress = Progress::blocks("comparing with the reference");
            report.errors = compare_with_reference(*algorithm.computes, e.problem, inputs, {report.outputs},
                                                   static_cast<int>(o.threads), &control())[0];
        }
        if (!o.out.empty())
            write_tensor(o.out, *report.output(), e.problem.batch,
                         request.file_rank > 0 ? request.file_rank
                         : e.problem.batch > 1 ? 4
                                               : 3);
        if (o.json)
            std::cout << to_json(report).dump(2) << '\n';
        else
            print_text(report, mode.why, request.given);
    });
}

}  // namespace

void add_run(CLI::App& app) {
    static Options options;
    static std::string name;
    CLI::App* sub = app.add_subcommand("run", "Run one algorithm: bytes, FLOPs, memory and, with numbers, the error");
    add_algorithm_argument(*sub, name);
    add_problem_options(*sub, options);
    add_numeric_options(*sub, options);
    add_file_options(*sub, options);
    add_json_option(*sub, options);
    sub->footer(
        "Examples:\n"
        "  tilescope run flash_v2\n"
        "  tilescope run flash_v2 --seq 16384 --heads 64 --causal --mode count\n"
        "  tilescope run standard --softmax naive --scale 10\n"
        "  tilescope run flash_v1 --gpu H100 --br 64 --bc 128 --json\n"
        "  tilescope run flash_v2 --q q.npy --k k.npy --v v.npy --out o.npy\n"
        "  tilescope run softmax_online --seq-q 4000 --seq-k 25000");
    sub->callback([] { run(options, name); });
}

}  // namespace tilescope::cli
