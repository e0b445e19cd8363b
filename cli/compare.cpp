// `tilescope compare [ALGO...]`: algorithms side by side on one problem.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "algorithms/contract/feature_names.hpp"
#include "algorithms/contract/refusal.hpp"
#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "cli/rows.hpp"
#include "cli/said.hpp"
#include "cli/with_option.hpp"
#include "cli/written_as.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "device/beside_measured.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/like.hpp"
#include "lab/flags/model.hpp"
#include "lab/flags/other_answers.hpp"
#include "lab/flags/small_run.hpp"
#include "lab/flags/supported.hpp"
#include "lab/model/basis.hpp"
#include "lab/model/timing.hpp"
#include "lab/model/warm.hpp"
#include "lab/model/with_forward.hpp"
#include "lab/run/judgement.hpp"
#include "lab/run/reference.hpp"
#include "lab/study/conclusion.hpp"
#include "lab/workload/paging.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

/// One variant's result, or why there is none.
struct Row {
    Variant variant;
    Options options;  // with the variant's own settings
    Request request;
    std::optional<Report> report;
    std::string problem;
    std::optional<Report> small = std::nullopt;  // of small_problem(), where `report` has no numbers
    std::string said = {};                       // what a library's name means here

    const Algorithm& algorithm() const { return *variant.algorithm; }
    /// The report with numbers: of the problem, or of the small problem; nullptr without numbers.
    const Report* computed() const { return small ? &*small : report && report->numeric ? &*report : nullptr; }
    const OutputError* error() const { return computed() ? computed()->error() : nullptr; }
    bool wrong() const { return computed() && !wrong_outputs(*computed()).empty(); }
};

std::vector<Variant> chosen(const std::vector<std::string>& texts) {
    std::vector<Variant> list;
    for (const std::string& text : texts) list.push_back(chosen_variant(text));
    if (list.empty())
        for (const Algorithm& a : algorithms())
            if (a.computes == &computation::attention) list.push_back({&a, {}, a.name});
    const Algorithm& first = *list[0].algorithm;
    for (const Variant& v : list)
        if (v.algorithm->computes != first.computes)
            throw UsageError(message("compare.two_computations", first.name, first.computes->name, v.algorithm->name,
                                     v.algorithm->computes->name));
    return list;
}

/// Adds the row of a variant. Rows with equal options share a request, so that files are read once.
void add_row(std::vector<Row>& rows, const Variant& v, const Options& o) {
    const Named n = named(v, with_usual_sizes(with(o, v.settings)));
    Row row{v, n.options, {}, std::nullopt, ""};
    row.variant.algorithm = n.algorithm, row.said = n.said;
    const auto same = [&](const Row& r) { return r.options == row.options; };
    const auto like = std::find_if(rows.begin(), rows.end(), same);
    for (auto r = like; r != rows.end(); r = std::find_if(r + 1, rows.end(), same))
        if (r->variant.algorithm == n.algorithm && v.like.empty() && r->variant.like.empty())
            throw UsageError(message("compare.twice", v.label, v.algorithm->name));
    row.request = like != rows.end() ? like->request : read_request(row.options, *n.algorithm->computes);
    if (like == rows.end()) row.request.notes = notes_on(row.request, *n.algorithm->computes);
    if (row.request.wish.rule == TileRule::kernel) row.request.wish.rule = TileRule::common;
    rows.push_back(std::move(row));
}

std::vector<Row> rows_of(const std::vector<std::string>& texts, const Options& o) {
    if (const std::string like = like_of(o); texts.empty() && find_kernel(like))
        throw UsageError(message("compare.kernel_is_row", like));
    std::vector<Row> rows;
    for (const Variant& v : chosen(texts)) add_row(rows, v, o);
    // Algorithms that were named have to support the problem. If none was named, all that support it are compared.
    if (texts.empty())
        std::erase_if(rows, [](const Row& r) { return refuses(r.algorithm(), r.request.problem).has_value(); });
    for (const Row& r : rows) check_supported(r.algorithm(), r.request.problem, r.options);
    return rows;
}

/// Algorithms left out because they lack a feature that is asked for, with the feature; nothing if some were named.
std::string left_out(const std::vector<Row>& rows, const std::vector<std::string>& texts) {
    std::vector<std::string> absent;
    const Computation* const asked = rows[0].algorithm().computes;
    const auto is_row = [&](const Algorithm& a) {
        return std::any_of(rows.begin(), rows.end(), [&](const Row& r) { return &r.algorithm() == &a; });
    };
    for (const Algorithm& a : algorithms()) {
        if (!texts.empty() || a.computes != asked || is_row(a)) continue;
        if (const auto r = refuses(a, rows[0].request.problem))
            absent.push_back(message("compare.lacks", a.name, name_of(r->feature)));
    }
    return absent.empty() ? "" : message("compare.left_out", text::join(absent, ", "));
}

/// Counts a row. "Does not fit" becomes the text of the row and does not end the command.
void count_row(Row& row) {
    try {
        const Progress progress = Progress::blocks(message("progress.counting_of", row.variant.label));
        row.report = with_tiling(row.algorithm(), row.options, row.request,
                                 [](const Experiment& e) { return count_and_time(e, &control()); });
    } catch (const DoesNotFit& e) {
        row.problem = e.what();
    }
}

/// Executes rows of one problem on the same inputs, and compares them with one reference.
void execute_together(const std::vector<Row*>& rows) {
    const Row& first = *rows[0];
    const int threads = static_cast<int>(first.options.threads);
    const Inputs inputs = make_inputs(first.options, first.request, first.algorithm());
    std::vector<Outputs> outputs;
    for (Row* r : rows) {
        const Progress progress = Progress::blocks(message("progress.running", r->variant.label));
        const Inputs own = with_saved(r->algorithm(), r->request.problem, inputs, threads, &control());
        r->report = with_way_back(r->algorithm(), r->options,
                                  [&] { return with_outputs(*r->report, own, threads, &control()); });
        outputs.push_back(r->report->outputs);
    }
    const Progress progress = Progress::blocks(message("progress.comparing"));
    const auto errors = compare_with_reference(*first.algorithm().computes, first.request.problem, inputs, outputs,
                                               threads, &control());
    for (std::size_t k = 0; k < rows.size(); ++k) rows[k]->report->errors = errors[k];
}

void execute_all(std::vector<Row>& rows) {
    std::vector<std::vector<Row*>> groups;
    for (Row& r : rows) {
        if (!r.report) continue;
        const auto same = [&](const auto& group) { return group[0]->request.problem == r.request.problem; };
        const auto found = std::find_if(groups.begin(), groups.end(), same);
        found != groups.end() ? found->push_back(&r) : groups.push_back({&r});
    }
    for (const auto& group : groups) execute_together(group);
}

/// Finds the error of every row's algorithm, with the row's tiles, on a small problem.
void execute_small(std::vector<Row>& rows) {
    const Progress progress = Progress::blocks(message("progress.running_small"));
    for (Row& r : rows)
        if (r.report) r.small = run_small(*r.report, r.options, r.request, &control());
}

std::string error_cell(const Row& row) {
    const OutputError* e = row.error();
    if (!e) return "-";
    const std::string error = e->tells() ? text::number(e->max_abs) : "NaN";
    return row.wrong() ? message("compare.wrong_cell", error) : error;
}

/// The row by whose bytes the bytes of all rows are divided: of the rows that fit, the first on the first rung of the
/// ladder, or else the first; nullptr where none fits.
const Row* base_of(const std::vector<Row>& rows) {
    const Row* base = nullptr;
    for (const Row& r : rows) {
        if (!r.report) continue;
        if (r.algorithm().lineage.rung == 1 && !r.algorithm().lineage.file) return &r;
        if (!base) base = &r;
    }
    return base;
}

std::string ratio_text(double x) {
    char text[32];
    std::snprintf(text, sizeof text, x < 9.9995 ? "%.3f" : "%.3g", x);
    return text;
}

/// What stands in place of a time.
std::string lacks_time(const Report& r) { return message(r.unmodelled ? "compare.no_time" : "compare.no_room"); }

/// The cells of a row about time: time, TFLOP/s, bound, waves, SMs.
std::vector<std::string> time_cells(const Report& r) {
    if (!r.time) return {lacks_time(r), "-", "-", "-", "-"};
    const LaunchTime& l = r.time->longest();
    return {text::microseconds(r.time->us()),
            r.counters.matmul_flops > 0 ? text::number(*r.useful_flops_per_s() / 1e12) : "-", name_of(l.bound),
            text::number(l.waves), text::grouped(l.sms)};
}

void print_comparison(const std::vector<Row>& rows, text::Format format) {
    text::Table table(
        text::titles({"column.algorithm", "column.br_bc", "column.sm_traffic", "compare.ratio", "column.dram_traffic",
                      "compare.l2_hits", "column.time", "compare.tflops", "column.bound", "column.waves", "column.sms",
                      "column.extra_hbm", "compare.max_error"}));
    const Row* base = base_of(rows);
    for (const Row& row : rows) {
        if (!row.report) {
            table.add({row.variant.label, message("compare.no_fit")});
            continue;
        }
        const Report& r = *row.report;
        const auto dram = r.dram();
        const auto hits = r.l2_hit_rate();
        std::vector<std::string> cells = {
            row.variant.label,
            message("tile.size", std::to_string(r.experiment.tiling.br), std::to_string(r.experiment.tiling.bc)),
            text::bytes(r.counters.hbm()),
            ratio_text(static_cast<double>(r.counters.hbm()) / static_cast<double>(base->report->counters.hbm())),
            dram ? text::bytes(dram->total()) : "-",
            hits ? text::percent(*hits) : "-"};
        for (std::string& cell : time_cells(r)) cells.push_back(std::move(cell));
        cells.push_back(text::bytes(r.hbm_extra));
        cells.push_back(error_cell(row));
        table.add(cells);
    }
    table.print(std::cout, format);
}

/// Prints what storing costs beside recomputing: a table of backward passes, each together with its forward pass.
void print_passes(const std::vector<Row>& rows, text::Format format) {
    text::Table table(
        text::titles({"column.algorithm", "compare.after", "compare.kept", "column.extra_hbm", "compare.matmul_flops",
                      "compare.exponentials", "compare.other_flops", "column.sm_traffic", "column.time"}),
        2);
    for (const Row& row : rows) {
        if (!row.report) continue;
        const Report& r = *row.report;
        const auto big = [](Count n) { return text::count(static_cast<double>(n)); };
        table.add({row.variant.label, r.forward->name, text::bytes(kept_for_backward(r.experiment)),
                   text::bytes(r.hbm_extra), big(r.counters.matmul_flops), big(r.counters.exps),
                   big(r.counters.other_flops), text::bytes(r.counters.hbm()),
                   r.time ? text::microseconds(r.time->us()) : lacks_time(r)});
    }
    table.print(std::cout, format);
}

/// Adds the text of the first row, and the texts of rows that differ from it, each with the label of its row.
void add_different(std::vector<std::string>& lines, const std::vector<Row>& rows, auto&& text_of) {
    const std::string first = text_of(rows[0]);
    lines.push_back(first);
    for (const Row& r : rows)
        if (text_of(r) != first) lines.push_back(message("remark.of", r.variant.label, text_of(r)));
}

bool among(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

/// The lines above the table, which say what it is about.
std::vector<std::string> heading(const std::vector<Row>& rows, const ModeChoice& mode) {
    std::vector<std::string> lines;
    add_different(lines, rows, [](const Row& r) { return describe(r.request, *r.algorithm().computes); });
    add_different(lines, rows, [](const Row& r) { return describe(r.request.gpu); });
    const Row* base = base_of(rows);
    lines.push_back(base ? message("compare.about", base->variant.label,
                                   text::bytes(base->report->compulsory_read() + base->report->compulsory_written()))
                         : message("compare.about_none"));
    if (base && base->report->forward) lines.push_back(message("compare.with_forward"));
    if (mode.numeric) lines.push_back(message("compare.errors_computed", mode.why));
    std::vector<std::string> notes;  // about the inputs
    for (const Row& r : rows)
        for (const std::string& note : r.request.notes)
            if (!among(notes, note)) notes.push_back(note), lines.push_back(message("remark.note", note));
    return lines;
}

/// Names the rows whose times are those of tiles larger than the problem.
std::string cut_rows(const std::vector<Row>& rows) {
    std::vector<std::string> cut;
    for (const Row& r : rows)
        if (r.report && r.report->time)
            if (const std::string tile = about_cut_tile(*r.report->time, r.report->experiment); !tile.empty())
                cut.push_back(message("compare.cut_tile", r.variant.label, tile));
    return cut.empty() ? "" : message("compare.cut", text::join(cut, ", "));
}

/// Names the rows whose times are those of kernels that find bytes of their last run in the L2.
std::string warm_rows(const std::vector<Row>& rows) {
    std::vector<std::string> warm;
    std::size_t timed = 0;
    bool all_of_it = true;
    for (const Row& r : rows) {
        timed += r.report && r.report->time;
        if (!r.report || !is_warm(*r.report)) continue;
        warm.push_back(r.variant.label);
        all_of_it = all_of_it && kept_by_l2(*r.report) >= nearly_all_kept;
    }
    if (warm.empty()) return "";
    const std::string traffic = message("compare.cold_traffic", cold_traffic());
    if (warm.size() == timed)
        return text::sentences({message(all_of_it ? "compare.all_warm" : "compare.all_mostly_warm", timed), traffic});
    return text::sentences(
        {message(all_of_it ? "compare.some_warm" : "compare.some_mostly_warm", warm.size(), text::listed(warm)),
         traffic});
}

/// The remarks on single rows, below the table.
std::vector<std::string> remarks(const std::vector<Row>& rows) {
    std::vector<std::string> lines;
    for (const Row& row : rows) {
        const std::string& label = row.variant.label;
        const auto add = [&](const char* id, const std::string& words) { lines.push_back(message(id, label, words)); };
        if (!row.said.empty()) lines.push_back(row.said);
        if (!row.report) {
            add("remark.of", row.problem);
            continue;
        }
        const Report& r = *row.report;
        if (!r.no_time.empty()) add("remark.of_sentence", r.no_time);
        if (const std::string paper = beside_ideal(r); !paper.empty()) add("remark.of", paper);
        if (r.time && !r.dram()) add("compare.no_dram", r.time->no_dram);
        for (const std::string& note : r.notes)
            if (!among(row.request.notes, note)) add("remark.of_sentence", note);
        if (row.wrong())
            for (const std::string& wrong : about_wrong_outputs(*row.computed())) {
                const std::string not_ranked = message("compare.not_ranked", wrong);
                label == row.algorithm().name ? lines.push_back(not_ranked) : add("remark.of", not_ranked);
            }
        else if (const OutputError* e = r.error(); e && e->compared < e->elements)
            add("remark.of_sentence", describe_error(r, row.algorithm().computes->output, *e));
    }
    for (const Row& row : rows)
        if (const std::string untimed = untimed_pages(row.request.problem); row.report && !untimed.empty()) {
            lines.push_back(untimed);
            break;
        }
    if (const std::string cut = cut_rows(rows); !cut.empty()) lines.push_back(cut);
    if (const std::string warm = warm_rows(rows); !warm.empty()) lines.push_back(warm);
    return lines;
}

std::vector<Contender> contenders_of(const std::vector<Row>& rows) {
    std::vector<Contender> contenders;
    for (const Row& r : rows)
        if (r.report) contenders.push_back({r.variant.label, &*r.report, r.wrong()});
    return contenders;
}

/// The table for people, with what surrounds it: comments in LaTeX, lines of their own in Markdown.
void print_text(const std::vector<Row>& rows, const ModeChoice& mode, text::Format format, const std::string& absent) {
    const std::string begin = format == text::Format::latex ? "% " : "";
    const auto print = [&](const std::string& line) {
        const std::size_t command = std::min(line.rfind(begin_of_see_it()), line.size());  // not wrapped, to be copied
        text::print_wrapped(std::cout, line.substr(0, command), begin);
        if (command < line.size()) std::cout << begin << line.substr(command + 1) << '\n';
        if (format == text::Format::markdown) std::cout << '\n';
    };
    for (const std::string& line : heading(rows, mode)) print(line);
    if (format == text::Format::text) std::cout << '\n';
    print_comparison(rows, format);
    if (base_of(rows) && base_of(rows)->report->forward) {
        if (format != text::Format::latex) std::cout << '\n';
        print_passes(rows, format);
    }
    if (format != text::Format::latex) std::cout << '\n';
    if (!mode.numeric) {
        const auto small = std::find_if(rows.begin(), rows.end(), [](const Row& r) { return r.small; });
        print(small == rows.end()
                  ? message("compare.no_errors", mode.why)
                  : message("compare.errors_of_small",
                            describe(small_problem(small->request.problem), *small->algorithm().computes), mode.why));
    }
    if (!absent.empty()) print(absent);
    for (const std::string& line : remarks(rows)) print(line);
    const std::vector<Contender> contenders = contenders_of(rows);
    for (const std::string& line : conclusion(contenders)) print(line);
    const device::BesideMeasured measured = device::beside_measured(contenders);
    if (format != text::Format::latex && !measured.before.empty()) std::cout << '\n';
    for (const std::string& line : measured.before) print(line);
    if (!measured.table) return;
    if (format == text::Format::text) std::cout << '\n';
    measured.table->print(std::cout, format);
}

void print_json(const std::vector<Row>& rows) {
    Json j = {{"schema", "tilescope.compare/1"}, {"reports", Json::array()}, {"does_not_fit", Json::object()}};
    for (const Row& r : rows) {
        if (!r.report) {
            j["does_not_fit"][r.variant.label] = r.problem;
            continue;
        }
        Json report = {{"variant", r.variant.label}};
        report.update(to_json(*r.report));
        if (r.small) add_small(report, *r.small, small_problem(r.request.problem));
        j["reports"].push_back(std::move(report));
    }
    j["measured"] = device::beside_measured(contenders_of(rows)).json;
    std::cout << j.dump(2) << '\n';
}

void print_csv(const std::vector<Row>& rows) {
    RowWriter writer(std::cout, false);
    for (const Row& r : rows) {
        const Experiment e = r.report ? r.report->experiment : experiment_of(r.algorithm(), r.request, &control());
        const std::string why = r.report ? why_incomplete(*r.report) : r.problem.substr(0, r.problem.find('\n'));
        std::vector<std::string> remarks = r.wrong() ? about_wrong_outputs(*r.computed()) : std::vector<std::string>();
        if (!why.empty()) remarks.push_back(why);
        writer.add({r.variant.label, r.request.model, r.request.phase, {e, r.report, text::join(remarks, "; ")}});
    }
    writer.finish();
}

void compare(const Options& o, const std::vector<std::string>& texts, const std::string& format,
             const std::string& with_what) {
    const WrittenAs as = written_as(format, o.json);
    std::vector<Row> rows = rows_of(texts, o);
    bool forward = false;
    for (const Row& r : rows) forward = asks_for_forward(with_what, r.algorithm());
    remark(rows[0].request.remark);
    std::vector<Report> reports;
    for (Row& r : rows) {
        count_row(r);
        if (r.report) reports.push_back(*r.report);
    }
    const ModeChoice mode = choose_mode(o, rows[0].request, reports);
    if (mode.numeric && !reports.empty())
        in_memory(mode.fix, [&] { execute_all(rows); });
    else if (o.mode == "auto")
        execute_small(rows);
    for (Row& r : rows)
        if (forward && r.report) r.report = with_forward(*r.report, r.request.wish, &control());
    for (Row& r : rows)
        if (r.report) r.report->notes.insert(r.report->notes.end(), r.request.notes.begin(), r.request.notes.end());
    if (as == WrittenAs::json)
        print_json(rows);
    else if (as == WrittenAs::csv)
        print_csv(rows);
    else
        print_text(rows, mode, table_format(as), left_out(rows, texts));
    if (reports.empty()) throw RunError(message("compare.none_fits"));
    std::vector<std::string> wrong;
    for (const Row& r : rows)
        if (r.computed()) wrong.push_back(wrong_in_short(*r.computed()));
    fail_where_wrong(wrong);
}

}  // namespace

void add_compare(CLI::App& app) {
    static Options options;
    static std::vector<std::string> variants;
    static std::string format, with_what;
    CLI::App* sub = app.add_subcommand("compare", message("compare.command"));
    add_variants_argument(*sub, variants);
    add_problem_options(*sub, options);
    add_numeric_options(*sub, options);
    add_file_options(*sub, options);
    sub->remove_option(sub->get_option("--out"));
    sub->get_option("--heads")->default_str(std::to_string(usual_heads));
    sub->get_option("--seq")->default_str(std::to_string(usual_seq));
    sub->get_option("--tiles")->description(message("compare.tiles_flag"));
    add_with_option(*sub, with_what);
    add_format_option(*sub, format, message("compare.csv"));
    add_json_option(*sub, options);
    sub->get_option("--json")->description(message("format.json_flag"));
    sub->footer(message("help.keys", text::join(settable_flags(), ", ")) + '\n' +
                examples({"compare.example", "compare.example_causal", "compare.example_variants",
                          "compare.example_backward", "compare.example_softmax", "compare.example_toy"}));
    sub->callback([] { compare(options, variants, format, with_what); });
}

}  // namespace tilescope::cli
