// `tilescope compare [ALGO...]`: algorithms side by side on one problem.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "core/text/numbers.hpp"
#include "core/text/table.hpp"
#include "lab/flags/describe.hpp"
#include "lab/reference.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

/// One algorithm's result, or why there is none.
struct Row {
    const Algorithm* algorithm;
    std::optional<Report> report;
    std::string problem;
};

std::vector<const Algorithm*> chosen(const std::vector<std::string>& names) {
    std::vector<const Algorithm*> list;
    for (const std::string& n : names) list.push_back(&chosen_algorithm(n));
    if (list.empty())
        for (const Algorithm& a : algorithms())
            if (a.computes == &computation::attention) list.push_back(&a);
    for (const Algorithm* a : list)
        if (a->computes != list[0]->computes)
            throw UsageError(std::string("compare: ") + list[0]->name + " computes " + list[0]->computes->name + ", " +
                             a->name + " computes " + a->computes->name + "; compare one computation at a time");
    return list;
}

/// The two columns that make "does not fit" of any algorithm a row instead of an end.
Row counted(const Algorithm& a, const Options& o, const Request& request) {
    try {
        const Progress progress = Progress::blocks(std::string("counting ") + a.name);
        return {&a, with_tiling(a, o, request, [](const Experiment& e) { return count(e, &control()); }), ""};
    } catch (const DoesNotFit& e) {
        return {&a, std::nullopt, e.what()};
    }
}

void execute_all(std::vector<Row>& rows, const Options& o, const Request& request) {
    const Algorithm& first = *rows[0].algorithm;
    const Inputs inputs = inputs_for(o, request, first, &control());
    std::vector<Outputs> outputs;
    for (Row& r : rows) {
        if (!r.report) continue;
        const Progress progress = Progress::blocks(std::string("running ") + r.algorithm->name);
        r.report = with_way_back(*r.algorithm, o, [&] {
            return execute(r.report->experiment, inputs, static_cast<int>(o.threads), &control());
        });
        outputs.push_back(r.report->outputs);
    }
    const Progress progress = Progress::blocks("comparing with the reference");
    const auto errors = compare_with_reference(*first.computes, request.problem, inputs, outputs,
                                               static_cast<int>(o.threads), &control());
    std::size_t k = 0;
    for (Row& r : rows)
        if (r.report) r.report->errors = errors[k++];
}

std::string error_cell(const Report& r) {
    const OutputError* e = r.error();
    if (!e) return "-";
    return e->not_finite > 0 ? "NaN" : text::number(e->max_abs);
}

/// Bytes that the ratio column divides by: those of `standard`, or else of the first row.
double baseline(const std::vector<Row>& rows, std::string& name) {
    const Row* base = nullptr;
    for (const Row& r : rows)
        if (r.report && (!base || std::string_view(r.algorithm->name) == "standard")) base = &r;
    if (!base) return 1;
    name = base->algorithm->name;
    return static_cast<double>(base->report->counters.hbm());
}

void print_table(const std::vector<Row>& rows) {
    std::string base_name = "first";
    const double base = baseline(rows, base_name);
    text::Table table({"algorithm", "Br x Bc", "HBM read", "written", "/ " + base_name, "FLOPs", "exps", "FLOP/B",
                       "SRAM", "registers", "extra HBM", "blocks", "max error"});
    for (const Row& row : rows) {
        if (!row.report) {
            table.add({row.algorithm->name, "no fit"});
            continue;
        }
        const Report& r = *row.report;
        const Counters& c = r.counters;
        const auto mb = [](Bytes n) { return text::bytes(static_cast<double>(n)); };
        char ratio[32];
        std::snprintf(ratio, sizeof ratio, "%.3f", static_cast<double>(c.hbm()) / base);
        table.add({row.algorithm->name,
                   std::to_string(r.experiment.tiling.br) + " x " + std::to_string(r.experiment.tiling.bc),
                   mb(c.hbm_read), mb(c.hbm_write), ratio, text::count(static_cast<double>(c.flops())),
                   text::count(static_cast<double>(c.exps)), text::number(r.arithmetic_intensity()),
                   text::binary_bytes(r.sram_peak), text::binary_bytes(r.register_peak), mb(r.hbm_extra),
                   text::count(static_cast<double>(c.thread_blocks)), error_cell(r)});
    }
    table.print(std::cout);
}

void print_remarks(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        if (!row.report) {
            std::cout << '\n' << row.algorithm->name << ": " << row.problem << '\n';
            continue;
        }
        const Report& r = *row.report;
        if (row.algorithm->idealised)
            if (const auto ideal = row.algorithm->idealised(r.experiment.problem))
                std::cout << '\n'
                          << row.algorithm->name << ": " << ideal->name << " counts "
                          << text::bytes(static_cast<double>(ideal->count.hbm_read + ideal->count.hbm_write))
                          << ", executed here: " << text::bytes(static_cast<double>(r.counters.hbm())) << ";\n  "
                          << ideal->why << ".\n";
        for (const std::string& note : r.notes) std::cout << row.algorithm->name << ": " << note << ".\n";
        if (const OutputError* e = r.error(); e && e->not_finite > 0)
            std::cout << row.algorithm->name << ": " << describe_error(r, *e) << ".\n";
    }
}

void compare(const Options& o, const std::vector<std::string>& names) {
    std::vector<const Algorithm*> list = chosen(names);
    const Request request = resolve(o, *list[0]->computes);
    // Those that were named have to do what is asked for; of all, those that do are compared.
    if (names.empty())
        std::erase_if(list, [&](const Algorithm* a) { return refuses(*a, request.problem).has_value(); });
    for (const Algorithm* a : list) check_supported(*a, request.problem, o);
    std::vector<Row> rows;
    std::vector<Report> reports;
    for (const Algorithm* a : list) {
        rows.push_back(counted(*a, o, request));
        if (rows.back().report) reports.push_back(*rows.back().report);
    }
    const ModeChoice mode = choose_mode(o, request, reports);
    if (mode.numeric && !reports.empty()) execute_all(rows, o, request);
    if (o.json) {
        Json j = {{"schema", "tilescope.compare/1"}, {"reports", Json::array()}, {"does_not_fit", Json::object()}};
        for (const Row& r : rows)
            r.report ? j["reports"].push_back(to_json(*r.report))
                     : (void)(j["does_not_fit"][r.algorithm->name] = r.problem);
        std::cout << j.dump(2) << '\n';
    } else {
        std::cout << describe(request.problem, *list[0]->computes) << '\n'
                  << describe(request.gpu) << '\n'
                  << (mode.numeric ? "Bytes, FLOPs and errors: counted and computed (" : "Bytes and FLOPs: counted (")
                  << mode.why << "). SRAM and registers: peak of a thread block.\n\n";
        print_table(rows);
        print_remarks(rows);
    }
    if (reports.empty()) throw RunError("compare: no algorithm fits; see above");
}

}  // namespace

void add_compare(CLI::App& app) {
    static Options options;
    static std::vector<std::string> names;
    CLI::App* sub = app.add_subcommand("compare", "Compare algorithms on one problem (default: all of attention)");
    sub->add_option("ALGO", names, "Algorithms (see `tilescope list`)");
    add_problem_options(*sub, options);
    add_numeric_options(*sub, options);
    add_file_options(*sub, options);
    sub->remove_option(sub->get_option("--out"));
    add_json_option(*sub, options);
    sub->footer(
        "Examples:\n"
        "  tilescope compare\n"
        "  tilescope compare standard flash_v1 flash_v2 --seq 8192 --causal\n"
        "  tilescope compare softmax_naive softmax_safe softmax_online --seq-q 4000 --seq-k 25000\n"
        "  tilescope compare --gpu toy --seq 16 --dim 4 --heads 1 --dtype f32");
    sub->callback([] { compare(options, names); });
}

}  // namespace tilescope::cli
