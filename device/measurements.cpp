#include "device/measurements.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "algorithms/contract/packed.hpp"
#include "core/machine/dtypes.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "device/csv.hpp"
#include "lab/workload/splits.hpp"

namespace tilescope::device {
using namespace lab;
using text::message;
namespace {

std::string real(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", x);
    return text;
}

/// Counters are whole numbers, and all their digits count.
std::string whole(const std::optional<double>& x) {
    char text[32] = "";
    if (x) std::snprintf(text, sizeof text, "%.0f", *x);
    return text;
}

std::string real(const std::optional<double>& x) { return x ? real(*x) : ""; }

struct Column {
    const char* name;
    std::string (*cell)(const CaseResult&);
};

// Shorthands for the table below.
using R = const CaseResult&;
std::string text(Index n) { return std::to_string(n); }
/// The problem as users state it, without packing.
Problem problem(R r) { return unpacked(r.tested.problem); }
const Counters& counts(R r) { return r.counted.counters; }
template <class Get>
std::string deviation(R r, Get get) {
    return r.deviations ? get(*r.deviations) : std::string();
}
/// Of an error: its member, or "nan" where outputs are not numbers.
std::string error(const OutputError& e, double OutputError::*member) { return e.tells() ? real(e.*member) : "nan"; }
template <class Get>
std::string time(R r, Get get) {
    return r.times ? real(get(*r.times)) : std::string();
}
Measured measured(R r) { return r.measured.value_or(Measured{}); }
template <Index Tiling::*knob>
std::string role(R r) {
    return role_in_words(*r.tested.algorithm, r.tested.variant->tile, knob);
}

constexpr Column columns[] = {
    {"algorithm", [](R r) { return std::string(r.tested.algorithm->name); }},
    {"dtype", [](R r) { return std::string(name_of(problem(r).dtype)); }},
    {"batch", [](R r) { return text(problem(r).batch); }},
    {"heads", [](R r) { return text(problem(r).heads); }},
    {"kv_heads", [](R r) { return text(problem(r).kv_heads); }},
    {"seq_q", [](R r) { return text(problem(r).seq_q); }},
    {"seq_k", [](R r) { return text(problem(r).seq_k); }},
    {"dim", [](R r) { return text(problem(r).dim); }},
    {"dim_v", [](R r) { return text(problem(r).dim_v); }},
    {"causal", [](R r) { return text(problem(r).mask.is_causal()); }},
    {"options", [](R r) { return scores_are_plain(problem(r)) ? std::string() : score_options(problem(r)); }},
    {"br", [](R r) { return text(r.tested.variant->tile.br); }},
    {"bc", [](R r) { return text(r.tested.variant->tile.bc); }},
    {"splits", [](R r) { return r.tested.splits > 0 ? text(r.tested.splits) : std::string(); }},
    {"packed", [](R r) { return text(r.tested.problem.packed); }},
    {"slots", role<&Tiling::slots>},
    {"warpgroups", role<&Tiling::warpgroups>},
    {"turns", role<&Tiling::turns>},
    {"overlap", role<&Tiling::overlap>},
    {"specialised", role<&Tiling::specialised>},
    {"cluster", role<&Tiling::cluster>},
    {"persistent", role<&Tiling::persistent>},
    {"status", [](R r) { return std::string(name_of(r.status)); }},
    {"heads_checked", [](R r) { return deviation(r, [](auto& d) { return text(d.heads_checked); }); }},
    {"rows_checked", [](R r) { return deviation(r, [](auto& d) { return text(d.rows_checked); }); }},
    {"output", [](R r) { return deviation(r, [](auto& d) { return d.output; }); }},
    {"largest_reference", [](R r) { return deviation(r, [](auto& d) { return real(d.largest_reference); }); }},
    {"kernel_max_error",
     [](R r) { return deviation(r, [](auto& d) { return error(d.kernel, &OutputError::max_abs); }); }},
    {"kernel_rms_error", [](R r) { return deviation(r, [](auto& d) { return error(d.kernel, &OutputError::rms); }); }},
    {"simulator_max_error",
     [](R r) { return deviation(r, [](auto& d) { return error(d.simulator, &OutputError::max_abs); }); }},
    {"simulator_rms_error",
     [](R r) { return deviation(r, [](auto& d) { return error(d.simulator, &OutputError::rms); }); }},
    {"kernel_simulator_max_difference", [](R r) { return deviation(r, [](auto& d) { return real(d.difference); }); }},
    {"warm_ms", [](R r) { return time(r, [](auto& t) { return t.warm; }); }},
    {"cold_ms", [](R r) { return time(r, [](auto& t) { return t.cold; }); }},
    {"tflops", [](R r) { return time(r, [&](auto&) { return r.tflops(); }); }},
    {"gbs", [](R r) { return time(r, [&](auto&) { return r.gbs(); }); }},
    {"simulated_read_bytes", [](R r) { return text(counts(r).hbm_read); }},
    {"measured_read_bytes", [](R r) { return whole(measured(r).read_bytes); }},
    {"simulated_write_bytes", [](R r) { return text(counts(r).hbm_write); }},
    {"measured_write_bytes", [](R r) { return whole(measured(r).write_bytes); }},
    {"simulated_reduce_bytes", [](R r) { return text(counts(r).hbm_reduce); }},
    {"measured_reduce_bytes", [](R r) { return whole(measured(r).reduce_bytes); }},
    {"dram_read_bytes", [](R r) { return whole(measured(r).dram_read_bytes); }},
    {"dram_write_bytes", [](R r) { return whole(measured(r).dram_write_bytes); }},
    {"simulated_exps", [](R r) { return text(counts(r).exps); }},
    {"measured_xu_ops", [](R r) { return whole(measured(r).xu_ops); }},
    {"simulated_matmul_flops", [](R r) { return text(counts(r).matmul_flops); }},
    {"measured_ffma_flops", [](R r) { return whole(measured(r).ffma_flops); }},
    {"shared_wavefronts", [](R r) { return whole(measured(r).shared_wavefronts); }},
    {"shared_conflicts", [](R r) { return whole(measured(r).shared_conflicts); }},
    {"ncu_us", [](R r) { return real(measured(r).microseconds); }},
    {"blocks_per_sm", [](R r) { return whole(measured(r).blocks_per_sm()); }},
    {"waves", [](R r) { return real(measured(r).waves); }},
};

std::string_view next_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);  // as spreadsheets end lines
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

/// The lines "# key: value" that a file begins with.
Provenance next_provenance(std::string_view& text) {
    Provenance provenance;
    while (text.starts_with("# ")) {
        const std::string_view line = next_line(text).substr(2);
        const std::size_t colon = line.find(": ");
        if (colon != std::string_view::npos) provenance.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
    return provenance;
}

/// The embedded files that `read` can read.
template <class Read>
std::vector<MeasurementFile> all_of(std::span<const EmbeddedFile> embedded, Read&& read) {
    std::vector<MeasurementFile> files;
    for (const EmbeddedFile& f : embedded)
        if (auto file = read(f.text)) files.push_back(std::move(*file));
    return files;
}

/// "# scripts/library ...; NVIDIA H200, PyTorch 2.11.0+cu130, 2026-11-22; ...": where and when.
Provenance library_provenance(std::string_view line) {
    const std::size_t begin = line.find("; "), end = line.find(';', begin + 1);
    if (begin == std::string_view::npos || end == std::string_view::npos) return {};
    const std::string_view told = line.substr(begin + 2, end - begin - 2);
    const std::size_t device = told.find(", "), date = told.rfind(", ");
    if (device == std::string_view::npos || date <= device) return {};
    return {{"date", std::string(told.substr(date + 2))},
            {"device", std::string(told.substr(0, device))},
            {"library", std::string(told.substr(device + 2, date - device - 2))}};
}

/// Whether the row is of a kernel with these roles of warps. Files from before kernels had roles have no such columns.
bool has_roles_of(const MeasuredRow& row, const Algorithm& a, const Tiling& tile) {
    return std::ranges::all_of(a.knobs, [&](const Knob& k) {
        return k.is_size || row[k.name].empty() || row[k.name] == role_in_words(a, tile, k.value);
    });
}

/// How many heads were packed; 1 in files without this column, which are from before heads were packed.
Index packed_in(const MeasuredRow& row) { return row["packed"].empty() ? 1 : row.integer("packed"); }

}  // namespace

std::vector<std::pair<std::string, std::string>> cells_of(const CaseResult& result) {
    std::vector<std::pair<std::string, std::string>> cells;
    for (const Column& c : columns) cells.emplace_back(c.name, c.cell(result));
    return cells;
}

void write_measurements(std::ostream& out, const Provenance& provenance, std::span<const CaseResult> results) {
    for (const auto& [key, value] : provenance) out << "# " << key << ": " << value << '\n';
    const char* separator = "";
    for (const Column& c : columns) out << std::exchange(separator, ",") << c.name;
    out << '\n';
    for (const CaseResult& r : results) {
        separator = "";
        for (const Column& c : columns) out << std::exchange(separator, ",") << c.cell(r);
        out << '\n';
    }
}

std::string_view MeasuredRow::operator[](std::string_view column) const {
    const auto found = std::ranges::find(*columns_, column);
    const auto k = static_cast<std::size_t>(found - columns_->begin());
    return k < cells_.size() ? std::string_view(cells_[k]) : std::string_view();
}

std::optional<double> MeasuredRow::number(std::string_view column) const {
    const std::string_view cell = (*this)[column];
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (cell.empty() || error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
    return value;
}

Index MeasuredRow::integer(std::string_view column) const {
    const std::string_view cell = (*this)[column];
    Index value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (cell.empty() || error != std::errc() || end != cell.data() + cell.size())
        throw RunError(message("measurements.no_whole_number", column, text::shown(cell)));
    return value;
}

std::string MeasurementFile::told(std::string_view key) const {
    for (const auto& [k, value] : provenance)
        if (k == key) return value.substr(0, key == "date" ? value.find(' ') : value.npos);
    return "";
}

std::optional<MeasurementFile> read_measurements(std::string_view text) {
    MeasurementFile file;
    file.provenance = next_provenance(text);
    auto header = std::make_shared<std::vector<std::string>>(cells_of(next_line(text)));
    for (const char* needed : {"algorithm", "status", "simulated_read_bytes"})
        if (std::ranges::find(*header, needed) == header->end()) return std::nullopt;
    const auto algorithm = static_cast<std::size_t>(std::ranges::find(*header, "algorithm") - header->begin());
    while (!text.empty()) {
        const std::string_view line = next_line(text);
        if (line.empty()) continue;
        std::vector<std::string> cells = cells_of(line);
        // Rows that were measured under a former name get the current one.
        if (algorithm < cells.size())
            if (const Algorithm* a = find_algorithm(cells[algorithm])) cells[algorithm] = a->name;
        file.rows.emplace_back(header.get(), std::move(cells));
    }
    file.columns = std::move(header);
    return file;
}

std::optional<MeasurementFile> read_library(std::string_view text) {
    MeasurementFile file;
    if (text.starts_with("# ")) file.provenance = library_provenance(next_line(text));
    if (next_line(text) != "gpu,half,dtype,batch,heads,seq_q,seq_k,dim,causal,us") return std::nullopt;
    file.columns = std::make_shared<std::vector<std::string>>(std::vector<std::string>{
        "algorithm", "half", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k", "dim", "dim_v", "causal", "us"});
    while (!text.empty()) {
        const std::vector<std::string> c = cells_of(next_line(text));
        if (c.size() < 10) continue;
        file.rows.emplace_back(file.columns.get(),
                               std::vector<std::string>{"flash_v2", c[1], c[2], c[3], c[4], c[4], c[5], c[6], c[7],
                                                        c[7], c[8] == "True" ? "1" : "0", c[9]});
    }
    return file;
}

std::optional<MeasurementFile> read_backends(std::string_view text) {
    MeasurementFile file;
    file.provenance = next_provenance(text);
    if (next_line(text) != "gpu,kernel,runs,dtype,batch,heads,kv_heads,seq_q,seq_k,dim,causal,us") return std::nullopt;
    file.columns = std::make_shared<std::vector<std::string>>(
        std::vector<std::string>{"algorithm", "kernel", "runs", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k",
                                 "dim", "dim_v", "causal", "us"});
    while (!text.empty()) {
        std::vector<std::string> c = cells_of(next_line(text));
        if (c.size() < 12) continue;
        c[0] = "flash_v2", c.insert(c.begin() + 10, c[9]);
        file.rows.emplace_back(file.columns.get(), std::move(c));
    }
    return file;
}

Problem problem_of(const MeasuredRow& row) {
    const auto dtype = dtype_from(row["dtype"]);
    if (!find_algorithm(row["algorithm"]) || !dtype)
        throw RunError(message("measurements.no_algorithm", text::shown(row["algorithm"]), text::shown(row["dtype"])));
    if (!row["options"].empty()) throw RunError(message("measurements.options", text::shown(row["options"])));
    Problem p;
    p.dtype = *dtype;
    p.batch = row.integer("batch"), p.heads = row.integer("heads"), p.kv_heads = row.integer("kv_heads");
    p.seq_q = row.integer("seq_q"), p.seq_k = row.integer("seq_k");
    p.dim = row.integer("dim"), p.dim_v = row.integer("dim_v");
    if (row.integer("causal") != 0) p.mask = Mask::causal();
    const Index group = p.kv_heads > 0 ? p.heads / p.kv_heads : 0, together = packed_in(row);
    if (together != 1 && together != group)
        throw RunError(message("measurements.packed", std::to_string(group), std::to_string(together)));
    return together > 1 ? packed(p) : p;
}

KernelCase case_of(const MeasuredRow& row) {
    const Problem p = problem_of(row);
    const Algorithm* a = find_algorithm(row["algorithm"]);
    const Tiling tile{row.integer("br"), row.integer("bc")};
    const Index splits = has_splits(a->knobs) ? row.integer("splits") : 0;
    if (splits < 0 || splits > most_splits)
        throw RunError(message("measurements.splits", std::to_string(most_splits), std::to_string(splits)));
    for (const KernelVariant& v : kernels_of(*a))
        if (v.tile.br == tile.br && v.tile.bc == tile.bc && v.serves(p) && has_roles_of(row, *a, v.tile))
            return {a, &v, p, splits};
    throw RunError(message("measurements.no_kernel", a->name, std::to_string(tile.br), std::to_string(tile.bc)));
}

std::vector<MeasurementFile> shipped_measurements() { return all_of(embedded_h200(), read_measurements); }

std::vector<MeasurementFile> shipped_backward() { return all_of(embedded_backward(), read_measurements); }

std::vector<ShippedOn> shipped_by_machine() {
    const auto shipped_on = [&](const char* gpu, std::span<const EmbeddedFile> files) {
        return ShippedOn{gpu, all_of(files, read_measurements), all_of(files, read_library),
                         all_of(files, read_backends)};
    };
    return {shipped_on("H200", embedded_h200()), shipped_on("H100-SXM", embedded_h100())};
}

}  // namespace tilescope::device
