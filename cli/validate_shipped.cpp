#include "cli/validate_shipped.hpp"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <set>

#include "cli/validate_report.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "lab/flags/values.hpp"
#include "lab/workload/packing.hpp"
#include "show/words/time_text.hpp"

namespace tilescope::cli {
using namespace lab;
using namespace device;
namespace {

/// The cells that the flags ask for, by column, and the flag for each.
struct Wanted {
    std::string flag, column, cell;
};

std::vector<Wanted> wanted(const ValidateFlags& flags) {
    const Options& o = flags.options;
    std::vector<Wanted> all;
    const auto add = [&](const char* flag, const std::string& value, std::initializer_list<const char*> columns) {
        for (const char* column : columns) all.push_back({std::string(flag) + ' ' + value, column, value});
    };
    const auto size = [&](const char* flag, const std::optional<Index>& value, auto... columns) {
        if (value) add(flag, std::to_string(*value), {columns...});
    };
    size("--batch", o.batch, "batch");
    size("--heads", o.heads, "heads");
    size("--kv-heads", o.kv_heads, "kv_heads");
    size("--seq", o.seq_q && o.seq_k ? std::nullopt : o.seq, o.seq_q ? "seq_k" : "seq_q", o.seq_k ? "seq_q" : "seq_k");
    size("--seq-q", o.seq_q, "seq_q");
    size("--seq-k", o.seq_k, "seq_k");
    size("--dim", o.dim, "dim");
    size("--dim-v", o.dim_v, "dim_v");
    if (o.dtype) add("--dtype", *o.dtype, {"dtype"});
    if (o.causal.value_or(false)) all.push_back({"--causal", "causal", "1"});
    if (const std::string flag = score_flag(o); !flag.empty()) all.push_back({flag, "options", flag});
    if (o.br != "auto") add("--br", o.br, {"br"});
    if (o.bc != "auto") add("--bc", o.bc, {"bc"});
    if (const Index splits = to_splits("--splits", o.splits).number; splits > 0)
        add("--splits", std::to_string(splits), {"splits"});
    if (o.pack != name_of(Packing::automatic)) add("--pack", o.pack, {"packed"});
    return all;
}

bool matches(const MeasuredRow& r, const ValidateFlags& flags, const std::vector<Wanted>& all) {
    const bool packed = r.number("packed").value_or(1) > 1;
    const auto has = [&](const Wanted& w) {
        return w.column == "packed" ? packed == (w.cell == name_of(Packing::on)) : r[w.column] == w.cell;
    };
    return (flags.algorithms.empty() ||
            std::ranges::find(flags.algorithms, r["algorithm"]) != flags.algorithms.end()) &&
           std::ranges::all_of(all, has);
}

bool asks(const ValidateFlags& flags) { return !flags.algorithms.empty() || !wanted(flags).empty(); }

/// What two rows of one problem have in common.
std::string problem_key(const MeasuredRow& r) {
    std::string key;
    for (const char* c : {"algorithm", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k", "dim", "dim_v",
                          "causal", "packed", "splits"})
        key += std::string(r[c]) + ' ';
    return key;
}

/// A number of a row over another, as a difference in percent.
std::optional<double> deviation(const MeasuredRow& r, const char* measured, const char* simulated) {
    const auto m = r.number(measured), s = r.number(simulated);
    if (!m || !s || *s == 0) return std::nullopt;
    return 100 * (*m - *s) / *s;
}

std::string signed_percent(const std::optional<double>& x) {
    char text[32] = "";
    if (x) std::snprintf(text, sizeof text, "%+.2f%%", *x);
    return text;
}

/// What a summary says of an algorithm.
struct Summary {
    Index cases = 0, wrong = 0;
    double tflops = 0;
    std::optional<double> error, read, write;  // the worst

    static void worsen(std::optional<double>& worst, std::optional<double> x) {
        if (x && (!worst || std::abs(*x) > std::abs(*worst))) worst = x;
    }
    void add(const MeasuredRow& r) {
        ++cases;
        wrong += r["status"] == "wrong";
        tflops = std::max(tflops, r.number("tflops").value_or(0));
        const double largest = r.number("largest_reference").value_or(0);
        if (const auto e = r.number("kernel_max_error"); e && largest > 0) worsen(error, *e / largest);
        worsen(read, deviation(r, "measured_read_bytes", "simulated_read_bytes"));
        worsen(write, deviation(r, "measured_write_bytes", "simulated_write_bytes"));
    }
};

using Rows = std::vector<const MeasuredRow*>;

/// Prints a row for each algorithm, in the order of the registry, and type, f32 first.
void print_summary(const Rows& measured) {
    std::vector<std::pair<std::string, Summary>> rows;
    for (const Algorithm& a : algorithms())
        for (const Dtype t : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
            Summary sum;
            for (const MeasuredRow* r : measured)
                if ((*r)["algorithm"] == a.name && (*r)["dtype"] == name_of(t)) sum.add(*r);
            if (sum.cases > 0) rows.emplace_back(std::string(a.name) + ' ' + name_of(t), sum);
        }
    text::Table table({"kernel", "cases", "wrong", "worst error / largest output", "worst read difference",
                       "worst write difference", "most TFLOP/s"});
    for (const auto& [name, s] : rows)
        table.add({name, std::to_string(s.cases), std::to_string(s.wrong), s.error ? text::number(*s.error) : "",
                   signed_percent(s.read), signed_percent(s.write), text::number(s.tflops)});
    table.print(std::cout, "  ");
}

std::string time_of(const MeasuredRow& r, const char* column) {
    const auto ms = r.number(column);
    return ms ? show::duration(*ms * 1e-3) : "";
}

std::string bytes_of(const MeasuredRow& r, const char* column) {
    const auto n = r.number(column);
    return n ? text::bytes(*n) : "";
}

std::string count_of(const MeasuredRow& r, const char* column) {
    const auto n = r.number(column);
    return n ? text::count(*n) : "";
}

std::string number_of(const MeasuredRow& r, const char* column) {
    const auto n = r.number(column);
    return n ? text::number(*n) : "";
}

/// "16 x 64, S 7, packed 4"
std::string tiles_of(const MeasuredRow& r) {
    const auto tiles = std::string(r["br"]) + " x " + std::string(r["bc"]);
    const std::string splits(r["splits"]), packed(r["packed"]);
    return tiles + (splits.empty() ? "" : ", S " + splits) +
           (packed.empty() || packed == "1" ? "" : ", packed " + packed);
}

std::vector<std::string> timed_cells(const MeasuredRow& r) {
    return {time_of(r, "warm_ms"), time_of(r, "cold_ms"), number_of(r, "tflops"), number_of(r, "gbs")};
}

/// What was measured, and its difference from what was simulated.
std::vector<std::string> counted_cells(const MeasuredRow& r) {
    const auto difference = [&](const char* measured, const char* simulated) {
        return signed_percent(deviation(r, measured, simulated));
    };
    return {bytes_of(r, "measured_read_bytes"),  difference("measured_read_bytes", "simulated_read_bytes"),
            bytes_of(r, "measured_write_bytes"), difference("measured_write_bytes", "simulated_write_bytes"),
            count_of(r, "measured_xu_ops"),      difference("measured_xu_ops", "simulated_exps"),
            count_of(r, "measured_ffma_flops"),  difference("measured_ffma_flops", "simulated_matmul_flops"),
            bytes_of(r, "dram_read_bytes"),      bytes_of(r, "dram_write_bytes")};
}

void print_rows(const Rows& measured, bool counters) {
    std::vector<std::string> header = {"kernel", "batch x heads", "Nq x Nk", "d, dv", "causal", "Br x Bc"};
    const std::size_t keys = header.size();
    const std::vector<std::string> more =
        counters
            ? std::vector<std::string>{"status",     "HBM read",  "difference", "HBM written", "difference",  "exps",
                                       "difference", "FMA FLOPs", "difference", "DRAM read",   "DRAM written"}
            : std::vector<std::string>{"status", "warm", "cold", "TFLOP/s", "GB/s"};
    header.insert(header.end(), more.begin(), more.end());
    text::Table table(header, keys);
    for (std::size_t c = keys; c + 1 < header.size(); ++c)
        if (header[c + 1] == "difference") table.keep_together(c, 2);
    for (const MeasuredRow* row : measured) {
        const MeasuredRow& r = *row;
        const auto pair = [&](const char* a, const char* by, const char* b) {
            return std::string(r[a]) + by + std::string(r[b]);
        };
        std::vector<std::string> cells = {pair("algorithm", " ", "dtype"),   pair("batch", " x ", "heads"),
                                          pair("seq_q", " x ", "seq_k"),     pair("dim", ", ", "dim_v"),
                                          r["causal"] == "1" ? "yes" : "no", tiles_of(r),
                                          std::string(r["status"])};
        const std::vector<std::string> rest = counters ? counted_cells(r) : timed_cells(r);
        cells.insert(cells.end(), rest.begin(), rest.end());
        table.add(std::move(cells));
    }
    table.print(std::cout, "  ");
}

/// "NVIDIA H200; driver 580.159.04; ...": one line, the same for all that was measured on one machine.
std::string place_of(const MeasurementFile& f) {
    std::vector<std::string> parts;
    for (const auto& [key, value] : f.provenance)
        if (key != "date" && key != "command") parts.push_back(key == "device" ? value : key + ' ' + value);
    return text::join(parts, "; ");
}

std::string date_of(const MeasurementFile& f) {
    for (const auto& [key, value] : f.provenance)
        if (key == "date") return value.substr(0, value.find(' '));
    return "";
}

/// "2026-11-21", or from the first day to the last.
std::string dates_of(const std::vector<const MeasurementFile*>& files) {
    std::set<std::string> days;
    for (const MeasurementFile* f : files) days.insert(date_of(*f));
    return days.size() > 1 ? *days.begin() + " to " + *days.rbegin() : *days.begin();
}

/// "f32, f16": the different cells of a column.
std::string values_of(const std::vector<MeasurementFile>& files, const char* column) {
    std::set<std::pair<double, std::string>> values;  // numbers in their order
    for (const MeasurementFile& f : files)
        for (const MeasuredRow& r : f.rows) values.emplace(r.number(column).value_or(0), r[column]);
    std::vector<std::string> words;
    for (const auto& [number, word] : values) words.push_back(word);
    return text::join(words, ", ");
}

/// That nothing matches, and what was measured of these algorithms.
void print_none(const ValidateFlags& flags) {
    std::set<std::string> asked;
    for (const Wanted& w : wanted(flags)) asked.insert(w.flag);
    std::string said = "\nNothing that ships was measured with";
    for (const std::string& flag : asked) said += ' ' + flag;
    ValidateFlags algorithms_only;
    algorithms_only.algorithms = flags.algorithms;
    auto files = shipped_measurements();
    std::erase_if(files, [&](MeasurementFile& f) {
        std::erase_if(f.rows, [&](const MeasuredRow& r) { return !matches(r, algorithms_only, {}); });
        return f.rows.empty();
    });
    text::print_wrapped(std::cout, said + "; leave some out. There are --seq " + values_of(files, "seq_q") +
                                       "; --dim " + values_of(files, "dim") + "; --heads " + values_of(files, "heads") +
                                       "; --dtype " + values_of(files, "dtype") + "; not every combination.");
}

}  // namespace

void keep_asked(std::vector<MeasurementFile>& files, const ValidateFlags& flags) {
    if (!asks(flags)) return;
    const auto all = wanted(flags);
    const bool first_only = !flags.all_tiles && flags.options.br == "auto" && flags.options.bc == "auto";
    std::set<std::string> seen;
    for (MeasurementFile& f : files)
        std::erase_if(f.rows, [&](const MeasuredRow& r) {
            return !matches(r, flags, all) || (!seen.insert(problem_key(r)).second && first_only);
        });
    std::erase_if(files, [](const MeasurementFile& f) { return f.rows.empty(); });
}

void print_shipped(const std::vector<MeasurementFile>& files, const ValidateFlags& flags) {
    if (files.empty() && asks(flags) && !shipped_measurements().empty()) return print_none(flags);
    if (files.empty()) {
        std::cout << "\nNo reference measurements ship with this tilescope.\n";
        return;
    }
    std::map<std::string, std::vector<const MeasurementFile*>> places;
    for (const MeasurementFile& f : files) places[place_of(f)].push_back(&f);
    for (const auto& [place, there] : places) {
        text::print_wrapped(std::cout,
                            "\nMeasured before, and shipped with tilescope: " + dates_of(there) + ", " + place);
        Rows rows;
        for (const MeasurementFile* f : there)
            for (const MeasuredRow& r : f->rows) rows.push_back(&r);
        asks(flags) ? print_rows(rows, flags.counters) : print_summary(rows);
    }
    std::cout << "\nDifferences: of what was measured from what was simulated; docs/validation.md explains every one "
                 "above 1%.\n";
    if (asks(flags) && !flags.counters) std::cout << "--counters shows bytes in place of times.\n";
}

Json to_json(const MeasurementFile& file) {
    Json j = {{"provenance", Json::object()}, {"cases", Json::array()}};
    for (const auto& [key, value] : file.provenance) j["provenance"][key] = value;
    for (const MeasuredRow& r : file.rows) {
        Json row;
        for (const std::string& c : *file.columns) row[c] = value_of(std::string(r[c]));
        j["cases"].push_back(std::move(row));
    }
    return j;
}

}  // namespace tilescope::cli
