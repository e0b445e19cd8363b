// `tilescope run ALGO`: one algorithm on one problem, everything it moves and computes.
#include <algorithm>
#include <iostream>

#include "algorithms/contract/pseudo_code.hpp"
#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/output_files.hpp"
#include "cli/progress.hpp"
#include "cli/said.hpp"
#include "cli/with_option.hpp"
#include "core/machine/counters.hpp"
#include "core/machine/launch_info.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/ending.hpp"
#include "lab/flags/other_answers.hpp"
#include "lab/flags/small_run.hpp"
#include "lab/model/basis.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/model/timing.hpp"
#include "lab/model/verdict.hpp"
#include "lab/model/warm.hpp"
#include "lab/model/with_forward.hpp"
#include "lab/own/own.hpp"
#include "lab/run/judgement.hpp"
#include "lab/run/reference.hpp"
#include "lab/study/study.hpp"
#include "lab/system/atomic_file.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

void print_traffic(const Report& r) {
    const bool reduces = r.counters.hbm_reduce > 0;
    std::vector<std::string> heads =
        text::titles({"column.tensor", "run.role", "run.in_hbm", "column.read", "column.written"});
    if (reduces) heads.push_back(message("run.reduced"));
    text::Table table(heads, 2);
    const auto add = [&](const std::string& name, const std::string& role, Bytes size, const Traffic& t) {
        std::vector<std::string> cells = {name, role, text::bytes(size), text::bytes(t.read), text::bytes(t.write)};
        if (reduces) cells.push_back(text::bytes(t.reduce));
        table.add(cells);
    };
    for (const TensorReport& t : r.tensors) add(t.name, name_of(t.role), t.bytes, t.traffic);
    add(message("run.total"), "", r.hbm_footprint, Traffic::of(r.counters));
    table.print(std::cout, "  ");
}

/// Prints the SM traffic, the part of it that reaches DRAM, and the compulsory bytes.
void print_levels(const Report& r) {
    const Bytes reduced = r.counters.hbm_reduce;
    text::Table table(text::titles({"column.level", "column.read", "column.written", "run.flop_per_byte", "run.what"}),
                      1);
    table.add({message("column.sm_traffic"), text::bytes(r.counters.hbm_read), text::bytes(r.counters.hbm_write),
               text::number(r.arithmetic_intensity()),
               reduced > 0 ? message("run.crosses_and_adds", text::bytes(reduced)) : message("run.crosses")});
    if (r.counters.multicast > 0)
        table.add({message("run.l2_reads"), text::bytes(r.counters.l2_read()), "", "", message("run.l2_reads_are")});
    if (const auto dram = r.dram())
        table.add({message("column.dram_traffic"), text::bytes(dram->read), text::bytes(dram->written),
                   text::number(r.dram_intensity().value_or(0)),
                   message(dram->written == 0 ? "run.l2_has_and_keeps" : "run.l2_has",
                           text::percent(r.l2_hit_rate().value_or(0)))});
    else if (r.time)
        table.add({message("column.dram_traffic"), "-", "-", "-", message("run.not_modelled", r.time->no_dram)});
    table.add({message("run.compulsory"), text::bytes(r.compulsory_read()), text::bytes(r.compulsory_written()), "",
               message("run.compulsory_is")});
    table.print(std::cout, "  ");
}

void print_time(const Report& r) {
    if (!r.time) {
        text::print_wrapped(std::cout, '\n' + text::capitalised(why_incomplete(r)) + '.');
        return;
    }
    const RunTime& t = *r.time;
    const Metric& speed = *find_metric("useful_flops_per_s");
    std::cout << '\n'
              << (r.counters.matmul_flops > 0
                      ? message("run.time_and_speed", text::microseconds(t.us()), shown(speed, speed.of(r)))
                      : message("run.time", text::microseconds(t.us())))
              << '\n';
    text::Table table(
        text::titles({"column.launch", "column.thread_blocks", "column.on_an_sm", "column.limited_by", "column.warps",
                      "column.registers", "column.waves", "column.sms", "column.tail", "column.time", "column.bound"}));
    for (const LaunchTime& l : t.launches)
        table.add({l.kernel, text::grouped(started(l)), std::to_string(l.residency.blocks), limited_by(l),
                   std::to_string(l.warps), std::to_string(l.registers), l.persistent > 0 ? "-" : text::count(l.waves),
                   text::grouped(l.sms), text::percent(l.tail), text::microseconds(l.us), name_of(l.bound)});
    table.print(std::cout, "  ");
    text::print_wrapped(std::cout,
                        text::sentences({about_persistent(t), verdict(t, r.experiment), basis(t, r.experiment)}), "  ");
    text::print_wrapped(std::cout, about_warm(r), "  ");
}

void print_on_chip(const Report& r) {
    const GpuSpec& g = r.experiment.gpu;
    std::cout << '\n'
              << message("run.on_chip", text::binary_bytes(g.sram_per_block), text::binary_bytes(g.registers_per_sm))
              << '\n';
    text::Table table(text::titles({"column.launch", "column.sram", "column.registers"}));
    for (const LaunchInfo& l : r.launches)
        table.add({l.kernel, text::binary_bytes(l.sram_peak), text::binary_bytes(l.register_peak)});
    table.print(std::cout, "  ");
}

void print_arithmetic(const Report& r) {
    const Counters& c = r.counters;
    const auto big = [](Count n) { return text::count(static_cast<double>(n)); };
    std::cout << '\n'
              << message("run.arithmetic") << "\n  "
              << message("run.operations", big(c.matmul_flops), big(c.exps), big(c.other_flops)) << "\n  "
              << message("run.moved_on_chip", text::bytes(c.sram_read), text::bytes(c.sram_write),
                         text::bytes(c.register_read), text::bytes(c.register_write))
              << '\n';
}

std::string as_published(const Experiment& e) {
    const PublishedTiles p = tiles_behind(e);
    const Tiling cut = cut_to(e.problem, p.tiling);
    const bool as_is = e.tiling.br == cut.br && e.tiling.bc == cut.bc;
    return as_is ? p.source : message("run.made_to_fit", p.source);
}

/// Where the tiles come from that the user left open.
std::string source_of_tiles(const Experiment& e, const Wish& wish) {
    switch (wish.rule) {
        case TileRule::paper:
            return message("run.rule_of_paper");
        case TileRule::best:
            return message("run.least_of_tried", name_of(wish.objective));
        default:
            return as_published(e);
    }
}

/// "S 22 (FlashAttention-2's rule)" where the keys are cut into parts.
std::string splits_text(const Experiment& e, const Wish& wish) {
    if (!has_splits(e.algorithm->knobs)) return "";
    const std::string parts = "S " + std::to_string(e.tiling.splits);
    if (wish.tiling.splits > 0) return parts;
    return message(e.algorithm->kernel->parts      ? "run.by_rule_of_library"
                   : wish.splits == SplitRule::fa2 ? "run.by_rule_of_fa2"
                                                   : "run.by_rule_of_fa3",
                   parts);
}

/// "4 heads packed (FlashAttention-2's rule)" where rows of several heads share a tile.
std::string packing_text(const Experiment& e, const Wish& wish) {
    if (e.problem.packed == 1) return "";
    const std::string packed = message("run.packed", std::to_string(e.problem.packed));
    return wish.packing == Packing::automatic ? message("run.by_rule_of_fa2", packed) : packed;
}

/// "Br 128, Bc 64 (as FlashAttention-2's released kernel ... has them)": the knobs, and the source of those left open.
std::string knobs_text(const Experiment& e, const Wish& wish) {
    std::vector<std::string> turned, open;
    for (const Knob& k : e.algorithm->knobs) {
        if (k.value == &Tiling::splits || !k.is_size) continue;
        turned.push_back(std::string(k.symbol) + ' ' + std::to_string(e.tiling.*k.value));
        if (wish.tiling.*k.value == 0) open.push_back(k.symbol);
    }
    const bool all = open.size() == turned.size() && !has_splits(e.algorithm->knobs) && e.problem.packed == 1;
    for (const std::string& more : {splits_text(e, wish), packing_text(e, wish)})
        if (!more.empty()) turned.push_back(more);
    const std::string knobs = text::join(turned, ", ");
    if (open.empty()) return knobs;
    return all ? message("run.knobs_from", knobs, source_of_tiles(e, wish))
               : message("run.knobs_some_from", knobs, text::join(open, ", "), source_of_tiles(e, wish));
}

/// "slots 4, warpgroups 2, turns on, ...": the knobs that are no sizes; empty where there are none.
std::string roles_text(const Experiment& e) {
    std::vector<std::string> words;
    for (const Knob& k : e.algorithm->knobs)
        if (!k.is_size && e.tiling.*k.value > 0) words.push_back(std::string(k.symbol) + ' ' + k.text(e.tiling));
    return text::join(words, ", ");
}

void print_errors(const Report& r, const std::string& title) {
    if (r.errors.empty()) return;
    text::print_wrapped(std::cout, '\n' + title);
    const auto print = [&](const std::string& name, const OutputError& e) {
        const std::string error = describe_error(r, name, e);
        text::print_wrapped(std::cout, r.errors.size() > 1 ? message("remark.of", name, error) : error, "  ");
    };
    const std::string first = r.experiment.algorithm->computes->output;
    print(first, r.errors.at(first));
    for (const auto& [name, error] : r.errors)
        if (name != first) print(name, error);
}

/// Of a user's program that was only counted: prints the errors on a small problem, or that nothing was checked.
/// TileScope's own programs are tested.
void print_unchecked(const Report& r, const std::optional<Report>& small, const Request& request) {
    if (!r.experiment.algorithm->lineage.file || r.numeric) return;
    if (!small) return text::print_wrapped(std::cout, '\n' + message("run.not_checked"));
    Request of_small = request;
    of_small.problem = small_problem(request.problem);
    print_errors(*small, message("run.error_of_small", describe(of_small, *r.experiment.algorithm->computes)));
}

/// A line of the heading: the label, and `what` beside it.
std::string labelled(std::string_view label_id, const std::string& what) {
    constexpr std::size_t column = 9;
    const std::string label = message(label_id);
    return label + std::string(column - std::min(column - 1, text::width(label)), ' ') + what;
}

void print_text(const Report& r, const std::string& why_mode, const Request& request) {
    const Experiment& e = r.experiment;
    const std::string mode = message("run.mode_because", r.numeric ? "numeric" : "count", why_mode);
    std::vector<std::string> heading = {message("remark.of", e.algorithm->name, idea_of(*e.algorithm)),
                                        labelled("run.source", source_of(*e.algorithm)),
                                        labelled("run.problem", describe(request, *e.algorithm->computes)),
                                        labelled("run.tiles", knobs_text(e, request.wish)),
                                        labelled("run.gpu", describe(e.gpu)),
                                        labelled("run.mode", mode)};
    if (const std::string roles = roles_text(e); !roles.empty())
        heading.insert(heading.begin() + 4, labelled("run.lanes", roles));
    const std::string below(11, ' ');
    text::print_wrapped(std::cout, text::join(heading, "\n  "), "", below);
    if (r.forward) {
        const std::string of_both = message("run.with_forward", r.forward->name, text::bytes(kept_for_backward(e)));
        text::print_wrapped(std::cout, labelled("run.with", of_both), "  ", below);
    }
    std::cout << '\n' << message("run.traffic") << '\n';
    print_levels(r);
    std::cout << '\n' << message("run.traffic_by_tensor") << '\n';
    print_traffic(r);
    std::cout << "  " << message("run.extra_memory", text::bytes(r.hbm_extra)) << '\n';
    text::print_wrapped(std::cout, beside_ideal(r), "  ");
    for (const std::string& note : r.notes) text::print_wrapped(std::cout, message("remark.note", note), "  ");
    print_arithmetic(r);
    print_on_chip(r);
    print_time(r);
    print_errors(r, message("run.error"));
}

/// Checks a user's program on a small problem, where the problem is too large to be computed.
std::optional<Report> small_check(const Report& report, const Options& o, const Request& request) {
    if (!report.experiment.algorithm->lineage.file || report.numeric || o.mode != "auto") return std::nullopt;
    const Progress progress = Progress::blocks(message("progress.running_small"));
    return run_small(report, o, request, &control());
}

Report execute_and_compare(const Report& counted, const Options& o, const Request& request) {
    const Experiment& e = counted.experiment;
    const int threads = static_cast<int>(o.threads);
    const Inputs inputs = make_inputs(o, request, *e.algorithm);
    Report report = [&] {
        const Progress progress = Progress::blocks(message("progress.running", e.algorithm->name));
        return with_outputs(counted, inputs, threads, &control());
    }();
    const Progress progress = Progress::blocks(message("progress.comparing"));
    report.errors = compare_with_reference(*e.algorithm->computes, request.problem, inputs, {report.outputs}, threads,
                                           &control())[0];
    return report;
}

void run(Options o, const std::string& name, const std::string& with) {
    const Algorithm& algorithm = chosen_algorithm(name, o);
    const bool forward = asks_for_forward(with, algorithm);
    check_ending("--out", o.out, {".npy"});
    check_ending("--out-lse", o.out_lse, {".npy"});
    const Request request = read_request(o, algorithm);
    remark(request.remark);
    with_tiling(algorithm, o, request, [&](const Experiment& e) {
        Report report = [&] {
            const Progress progress = Progress::blocks(message("progress.counting"));
            return count_and_time(e, &control());
        }();
        const ModeChoice mode = choose_mode(o, request, {report});
        OutputFiles files(o, *algorithm.computes, request.problem);  // opened before the work, because this may fail
        files.add_lse(o, e);
        if (mode.numeric) report = in_memory(mode.fix, [&] { return execute_and_compare(report, o, request); });
        files.write(report.outputs, request.file_rank);
        const std::optional<Report> small = small_check(report, o, request);
        if (forward) report = with_forward(report, request.wish, &control());
        const std::vector<std::string> notes = notes_on(request, *algorithm.computes);
        report.notes.insert(report.notes.end(), notes.begin(), notes.end());
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
    CLI::App* sub = app.add_subcommand("run", message("run.command"));
    add_algorithm_argument(*sub, name);
    add_problem_options(*sub, options);
    add_numeric_options(*sub, options);
    add_file_options(*sub, options);
    sub->add_option("--out-lse", options.out_lse, message("run.out_lse_flag"))->type_name("FILE.npy");
    add_with_option(*sub, with);
    add_json_option(*sub, options);
    sub->footer(examples({"run.example", "run.example_count", "run.example_naive", "run.example_tiles",
                          "run.example_files", "run.example_layout", "run.example_softmax"}));
    sub->callback([] { run(options, name, with); });
}

}  // namespace tilescope::cli
