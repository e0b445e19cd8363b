// `tilescope measured [ALGO...]`: the measurements that ship, beside what the model says of the same cases.
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/measured_cases.hpp"
#include "cli/written_as.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/words.hpp"
#include "device/reading.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/table.hpp"
#include "lab/report/problem_fields.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

constexpr double least_dram = 20e6;  // bytes, as in docs/validation.md: fewer bytes are mostly other reads of the GPU

using Cases = std::vector<MeasuredCase>;

Json or_null(const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); }
/// Bytes are whole numbers.
Json bytes_or_null(const std::optional<double>& x) { return x ? Json(static_cast<Bytes>(*x)) : Json(nullptr); }

/// A case with the columns of docs/outputs.md.
Json json_of(const MeasuredCase& c) {
    const Problem p = c.problem();
    Json j = {{"gpu", c.gpu},
              {"device", c.device},
              {"date", c.date},
              {"kernel", c.kernel()},
              {"algorithm", c.experiment.algorithm->name},
              {"dtype", name_of(p.dtype)}};
    for (const ProblemField& size : problem_sizes()) j[size.key] = size.get(p);
    j.update({{"causal", p.mask.is_causal()},
              {"br", c.experiment.tiling.br},
              {"bc", c.experiment.tiling.bc},
              {"splits", has_splits(c.experiment.algorithm->knobs) ? Json(c.experiment.tiling.splits) : Json()},
              {"packed", c.experiment.problem.packed},
              {"measured_time_us", or_null(c.us)},
              {"call_us", c.call_us},
              {"modelled_time_us", or_null(c.modelled_us)},
              {"time_ratio", or_null(c.time_ratio())},
              {"measured_read_bytes", bytes_or_null(c.read)},
              {"simulated_read_bytes", bytes_or_null(c.counted_read)},
              {"measured_write_bytes", bytes_or_null(c.write)},
              {"simulated_write_bytes", bytes_or_null(c.counted_write)},
              {"sm_traffic_ratio", or_null(c.sm_ratio())},
              {"measured_dram_read_bytes", bytes_or_null(c.dram_read)},
              {"modelled_dram_read_bytes", bytes_or_null(c.modelled_dram_read)},
              {"dram_read_ratio", or_null(c.dram_ratio())}});
    return j;
}

/// Cases of one kernel and type on one machine, and the ratios that they have.
struct Group {
    std::string algorithm, dtype, gpu, kernel;
    Index cases = 0;
    std::vector<double> time = {}, sm = {}, dram = {};

    bool holds(const MeasuredCase& c) const {
        return algorithm == c.experiment.algorithm->name && dtype == name_of(c.experiment.problem.dtype) &&
               gpu == c.gpu && kernel == c.kernel();
    }
    void add(const MeasuredCase& c) {
        ++cases;
        if (const auto x = c.time_ratio()) time.push_back(*x);
        if (const auto x = c.sm_ratio()) sm.push_back(*x);
        if (const auto x = c.dram_ratio(); x && *c.dram_read > least_dram) dram.push_back(*x);
    }
};

/// Groups by algorithm in the order of the registry, then by type and machine in the order of the cases.
std::vector<Group> groups_of(const Cases& cases) {
    std::vector<Group> groups;
    for (const Algorithm& a : algorithms())
        for (const MeasuredCase& c : cases) {
            if (c.experiment.algorithm != &a) continue;
            auto found = std::ranges::find_if(groups, [&](const Group& g) { return g.holds(c); });
            if (found == groups.end())
                found = groups.insert(found, {a.name, name_of(c.experiment.problem.dtype), c.gpu, c.kernel()});
            found->add(c);
        }
    return groups;
}

Json json_of(const Group& g) {
    Json j = {{"algorithm", g.algorithm}, {"dtype", g.dtype}, {"gpu", g.gpu}, {"kernel", g.kernel}, {"cases", g.cases}};
    const auto add = [&](const char* name, const std::vector<double>& values) {
        const device::Reading r = values.empty() ? device::Reading() : device::reading_of(values);
        const auto of = [&](double x) { return values.empty() ? Json(nullptr) : Json(x); };
        j[name] = {{"cases", values.size()}, {"median", of(r.median)}, {"least", of(r.least)}, {"most", of(r.most)}};
    };
    add("time_ratio", g.time), add("sm_traffic_ratio", g.sm), add("dram_read_ratio", g.dram);
    return j;
}

std::string ratio(const std::optional<double>& x) {
    char text[32] = "-";
    if (x) std::snprintf(text, sizeof text, "%.3f", *x);
    return text;
}

std::string median_of(const std::vector<double>& values) {
    return values.empty() ? "-" : ratio(device::reading_of(values).median);
}

text::Table summary_table(const Cases& cases) {
    text::Table table({"kernel", "on", "cases", "time", "from", "to", "SM traffic", "DRAM reads", "of"}, 2);
    for (const Group& g : groups_of(cases)) {
        const device::Reading time = g.time.empty() ? device::Reading() : device::reading_of(g.time);
        table.add({g.algorithm + ' ' + g.dtype + (g.kernel == "pytorch" ? ", PyTorch's" : ""), g.gpu,
                   std::to_string(g.cases), median_of(g.time), ratio(time.least), ratio(time.most), median_of(g.sm),
                   median_of(g.dram), g.dram.empty() ? "-" : std::to_string(g.dram.size())});
    }
    return table;
}

std::string bytes(const std::optional<double>& x) { return x ? text::bytes(*x) : "-"; }
std::string microseconds(const std::optional<double>& x) { return x ? text::microseconds(*x) : "-"; }

/// "16 x 64, S 7, packed 4"
std::string tiles_of(const MeasuredCase& c) {
    const Tiling& t = c.experiment.tiling;
    const Index packed = c.experiment.problem.packed;
    return std::to_string(t.br) + " x " + std::to_string(t.bc) +
           (t.splits > 0 ? ", S " + std::to_string(t.splits) : "") +
           (packed > 1 ? ", packed " + std::to_string(packed) : "");
}

/// The cells that tell a case from the others.
std::vector<std::string> key_cells(const MeasuredCase& c) {
    const Problem p = c.problem();
    const auto pair = [](Index a, const char* by, Index b) { return std::to_string(a) + by + std::to_string(b); };
    std::string heads = pair(p.batch, " x ", p.heads);
    if (p.kv_heads != p.heads) heads += " (" + std::to_string(p.kv_heads) + ')';
    return {c.experiment.algorithm->name + std::string(" ") + name_of(p.dtype),
            heads,
            pair(p.seq_q, " x ", p.seq_k),
            !has_head_dims(c)  ? "-"
            : p.dim == p.dim_v ? std::to_string(p.dim)
                               : pair(p.dim, ", ", p.dim_v),
            p.mask.is_causal() ? "yes" : "no",
            tiles_of(c)};
}

/// The table of cases, with columns of traffic where any traffic was measured.
text::Table cases_table(const Cases& cases) {
    const bool counters = std::ranges::any_of(cases, [](const MeasuredCase& c) { return c.read || c.dram_read; });
    std::vector<std::string> header = {"kernel", "heads", "Nq x Nk", "d", "causal", "Br x Bc"};
    const std::size_t keys = header.size();
    header.insert(header.end(), {"time measured", "modelled", "ratio"});
    if (counters)
        header.insert(header.end(),
                      {"SM traffic measured", "counted", "ratio", "DRAM reads measured", "modelled", "ratio"});
    text::Table table(header, keys);
    for (std::size_t c = keys; c < header.size(); c += 3) table.keep_together(c, 3);
    for (const MeasuredCase& c : cases) {
        std::vector<std::string> cells = key_cells(c);
        cells.insert(cells.end(), {microseconds(c.us), microseconds(c.modelled_us), ratio(c.time_ratio())});
        const auto sm = c.read && c.write ? std::optional(*c.read + *c.write) : std::nullopt;
        if (counters)
            cells.insert(cells.end(),
                         {bytes(sm), bytes(std::optional(*c.counted_read + *c.counted_write)), ratio(c.sm_ratio()),
                          bytes(c.dram_read), bytes(c.modelled_dram_read), ratio(c.dram_ratio())});
        table.add(std::move(cells));
    }
    return table;
}

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

/// What was measured where, once for each machine and kernel.
std::string place_of(const MeasuredCase& c) {
    const std::string where = c.device + ", " + c.date + " (--gpu " + c.gpu + "): ";
    if (!c.library) return where + "TileScope's kernels. Times: medians with warm caches.";
    return where + "PyTorch's FlashAttention-2, beside flash_v2 with the tiles that the model takes for it. Times: " +
           "medians of calls, less the " + text::microseconds(c.call_us) + " that a call costs beside the kernel.";
}

void print_cases(const Printer& out, const Cases& cases) {
    Cases rest = cases;
    while (!rest.empty()) {
        const MeasuredCase first = rest[0];
        const auto alike = [&](const MeasuredCase& c) {
            return c.gpu == first.gpu && c.library == first.library && c.date == first.date;
        };
        Cases together;
        std::ranges::copy_if(rest, std::back_inserter(together), alike);
        std::erase_if(rest, alike);
        out.line(place_of(first));
        out.table(cases_table(together));
    }
    out.line(
        "Ratios: the model's number over the measured one. SM traffic: bytes read and written, counted by Nsight "
        "Compute and by the model; DRAM reads: with caches cold. -: not measured there. Heads: batch x heads (of K and "
        "V, where fewer).");
}

void print_summary(const Printer& out, const Cases& cases) {
    out.line(
        "Ratios of the model's numbers over measured ones: the median of the cases, and for the time from the "
        "least to the most. SM traffic: as counted; DRAM reads: of cases of more than 20 MB.");
    out.table(summary_table(cases));
    out.line(
        "One by one: name algorithms, or use --gpu, --dim, --seq, --causal, ... as in `tilescope measured flash_v2 "
        "--dim 128 --causal`. On a kernel of your own: `tilescope reconcile flash_v2`.");
}

void print_json(const Cases& cases) {
    Json j = {{"schema", "tilescope.measured/1"}, {"summary", Json::array()}, {"cases", Json::array()}};
    for (const Group& g : groups_of(cases)) j["summary"].push_back(json_of(g));
    for (const MeasuredCase& c : cases) j["cases"].push_back(json_of(c));
    std::cout << j.dump(2) << '\n';
}

void print_csv(const Cases& cases) {
    const auto line = [&](const MeasuredCase& c, bool names) {
        std::vector<std::string> cells;
        const Json row = json_of(c);
        for (const auto& [name, value] : row.items())
            cells.push_back(names               ? name
                            : value.is_string() ? value.get<std::string>()
                            : value.is_null()   ? ""
                                                : value.dump());
        std::cout << text::csv_line(cells);
    };
    line(cases[0], true);
    for (const MeasuredCase& c : cases) line(c, false);
}

void measured(const MeasuredFlags& flags, const std::string& format) {
    const WrittenAs as = written_as(format, flags.options.json);
    const Cases all = shipped_cases();
    if (all.empty()) throw RunError("measured: no measurements ship with this tilescope; build it with docs/measured");
    Cases cases = asked_cases(all, flags);
    add_model(cases, all);
    if (as == WrittenAs::json) return print_json(cases);
    if (as == WrittenAs::csv) return print_csv(cases);
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
