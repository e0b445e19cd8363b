#include "device/shipped_rows.hpp"

#include <cmath>
#include <map>
#include <set>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "device/case_tables.hpp"
#include "lab/flags/values.hpp"
#include "lab/workload/packing.hpp"

namespace tilescope::device {
using namespace lab;
using text::message;
namespace {

/// A flag, and the cell of a column that it asks for.
struct Wanted {
    std::string flag, column, cell;
};

std::vector<Wanted> wanted(const ValidateFlags& flags) {
    const Options& o = flags.options;
    std::vector<Wanted> all;
    const auto add = [&](const char* flag, const std::string& value, std::initializer_list<const char*> there) {
        for (const char* column : there) all.push_back({std::string(flag) + ' ' + value, column, value});
    };
    const auto size = [&](const char* flag, const std::optional<Index>& value, auto... there) {
        if (value) add(flag, std::to_string(*value), {there...});
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
    for (const auto& [name, value] : o.roles) add(("--" + name).c_str(), value, {name.c_str()});
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

/// The cells that are equal in all rows of one problem.
std::string problem_key(const MeasuredRow& r) {
    std::string key;
    for (const char* c : {"algorithm", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k", "dim", "dim_v",
                          "causal", "packed", "splits"})
        key += std::string(r[c]) + ' ';
    return key;
}

std::optional<double> difference(const MeasuredRow& r, const char* measured, const char* simulated) {
    return percent_off(r.number(measured), r.number(simulated));
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
        worsen(read, difference(r, "measured_read_bytes", "simulated_read_bytes"));
        worsen(write, difference(r, "measured_write_bytes", "simulated_write_bytes"));
    }
};

/// A number of a row in words; "" where there is none.
std::string cell(const MeasuredRow& r, const char* column, std::string (*words)(double)) {
    const auto n = r.number(column);
    return n ? words(*n) : "";
}

std::vector<std::string> timed_cells(const MeasuredRow& r) {
    const auto time = [](double ms) { return text::duration(ms * 1e-3); };
    return {cell(r, "warm_ms", time), cell(r, "cold_ms", time), cell(r, "tflops", text::number),
            cell(r, "gbs", text::number)};
}

/// What was measured, and its difference from what was simulated.
std::vector<std::string> counted_cells(const MeasuredRow& r) {
    const auto percent = [&](const char* measured, const char* simulated) {
        return signed_percent(difference(r, measured, simulated));
    };
    return {cell(r, "measured_read_bytes", text::bytes),  percent("measured_read_bytes", "simulated_read_bytes"),
            cell(r, "measured_write_bytes", text::bytes), percent("measured_write_bytes", "simulated_write_bytes"),
            cell(r, "measured_xu_ops", text::count),      percent("measured_xu_ops", "simulated_exps"),
            cell(r, "measured_ffma_flops", text::count),  percent("measured_ffma_flops", "simulated_matmul_flops"),
            cell(r, "dram_read_bytes", text::bytes),      cell(r, "dram_write_bytes", text::bytes)};
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
    return days.size() > 1 ? message("shipped.days", *days.begin(), *days.rbegin()) : *days.begin();
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

/// Every row as an object.
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

}  // namespace

bool asks(const ValidateFlags& flags) { return !flags.algorithms.empty() || !wanted(flags).empty(); }

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

std::vector<std::pair<std::string, MeasuredRows>> by_place(const std::vector<MeasurementFile>& files) {
    std::map<std::string, std::vector<const MeasurementFile*>> places;
    for (const MeasurementFile& f : files) places[place_of(f)].push_back(&f);
    std::vector<std::pair<std::string, MeasuredRows>> all;
    for (const auto& [place, there] : places) {
        MeasuredRows& rows = all.emplace_back(message("shipped.place", dates_of(there), place), MeasuredRows()).second;
        for (const MeasurementFile* f : there)
            for (const MeasuredRow& r : f->rows) rows.push_back(&r);
    }
    return all;
}

text::Table summary_table(const MeasuredRows& measured) {
    std::vector<std::pair<std::string, Summary>> rows;
    for (const Algorithm& a : algorithms())
        for (const Dtype t : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
            Summary sum;
            for (const MeasuredRow* r : measured)
                if ((*r)["algorithm"] == a.name && (*r)["dtype"] == name_of(t)) sum.add(*r);
            if (sum.cases > 0) rows.emplace_back(std::string(a.name) + ' ' + name_of(t), sum);
        }
    text::Table table(text::titles({"shipped.kernel", "shipped.cases", "shipped.wrong", "shipped.worst_error",
                                    "shipped.worst_read", "shipped.worst_write", "shipped.most_tflops"}));
    for (const auto& [name, s] : rows)
        table.add({name, std::to_string(s.cases), std::to_string(s.wrong), s.error ? text::number(*s.error) : "",
                   signed_percent(s.read), signed_percent(s.write), text::number(s.tflops)});
    return table;
}

text::Table rows_table(const MeasuredRows& measured, bool counters) {
    constexpr std::string_view difference = "shipped.difference";
    std::vector<std::string_view> ids = {"shipped.kernel", "shipped.batch_and_heads", "shipped.nq_nk",
                                         "shipped.d_dv",   "shipped.causal",          "shipped.br_bc"};
    const std::size_t keys = ids.size();
    if (counters)
        ids.insert(ids.end(),
                   {"shipped.status", "shipped.hbm_read", difference, "shipped.hbm_written", difference, "shipped.exps",
                    difference, "shipped.fma_flops", difference, "shipped.dram_read", "shipped.dram_written"});
    else
        ids.insert(ids.end(), {"shipped.status", "shipped.warm", "shipped.cold", "shipped.tflops", "shipped.gbs"});
    text::Table table(text::titles(ids), keys);
    for (std::size_t c = keys; c + 1 < ids.size(); ++c)
        if (ids[c + 1] == difference) table.keep_together(c, 2);
    for (const MeasuredRow* row : measured) {
        const MeasuredRow& r = *row;
        const auto pair = [&](const char* a, const char* by, const char* b) {
            return std::string(r[a]) + by + std::string(r[b]);
        };
        std::vector<std::string> cells = {pair("algorithm", " ", "dtype"),
                                          pair("batch", " x ", "heads"),
                                          pair("seq_q", " x ", "seq_k"),
                                          pair("dim", ", ", "dim_v"),
                                          message(r["causal"] == "1" ? "shipped.yes" : "shipped.no"),
                                          tiles_of(case_of(r)),
                                          std::string(r["status"])};
        const std::vector<std::string> rest = counters ? counted_cells(r) : timed_cells(r);
        cells.insert(cells.end(), rest.begin(), rest.end());
        table.add(std::move(cells));
    }
    return table;
}

std::string about_none(const ValidateFlags& flags) {
    std::set<std::string> asked;
    for (const Wanted& w : wanted(flags)) asked.insert(w.flag);
    ValidateFlags algorithms_only;
    algorithms_only.algorithms = flags.algorithms;
    auto files = shipped_measurements();
    std::erase_if(files, [&](MeasurementFile& f) {
        std::erase_if(f.rows, [&](const MeasuredRow& r) { return !matches(r, algorithms_only, {}); });
        return f.rows.empty();
    });
    return message("shipped.none", text::join({asked.begin(), asked.end()}, " "), values_of(files, "seq_q"),
                   values_of(files, "dim"), values_of(files, "heads"), values_of(files, "dtype"));
}

Json to_json(const DeviceSearch& search, const std::vector<MeasurementFile>& files) {
    Json j = {{"schema", "tilescope.validate/1"},
              {"device", nullptr},
              {"missing", search.missing},
              {"fix", text::as_sentence(search.fix)},
              {"shipped", Json::array()}};
    for (const MeasurementFile& f : files) j["shipped"].push_back(to_json(f));
    return j;
}

}  // namespace tilescope::device
