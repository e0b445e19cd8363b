#include "cli/validate_report.hpp"

#include <cmath>
#include <iostream>
#include <map>

#include "core/text/numbers.hpp"
#include "core/text/table.hpp"
#include "lab/flags/describe.hpp"

namespace tilescope::cli {
using namespace lab;
using namespace device;
namespace {

std::string tiles_of(const KernelCase& c) {
    return std::to_string(c.variant->tile.br) + " x " + std::to_string(c.variant->tile.bc);
}

/// "1.2e-07 (4.1e-08)": an error, and the same relative to the largest output.
std::string with_relative(double error, double largest) {
    return text::number(error) + (largest > 0 ? " (" + text::number(error / largest) + ')' : "");
}

std::vector<std::string> error_cells(const OutputError& e, double largest) {
    if (e.not_finite > 0) return {"NaN", "NaN"};
    return {with_relative(e.max_abs, largest), with_relative(e.rms, largest)};
}

std::string finite(double x) { return std::isfinite(x) ? text::number(x) : "NaN"; }

void print_errors(std::span<const CaseResult> group) {
    text::Table table({"algorithm", "Br x Bc", "status", "heads checked", "kernel max", "kernel rms", "simulator max",
                       "simulator rms", "kernel - simulator"},
                      3);
    for (const CaseResult& r : group) {
        std::vector<std::string> row = {r.tested.algorithm->name, tiles_of(r.tested), name_of(r.status)};
        if (const auto& d = r.deviations) {
            row.push_back(std::to_string(d->heads_checked) + " of " + std::to_string(r.heads()) +
                          (d->rows_checked < r.tested.problem.seq_q
                               ? ", last " + std::to_string(d->rows_checked) + " rows"
                               : ""));
            for (const OutputError* e : {&d->kernel, &d->simulator})
                for (std::string& cell : error_cells(*e, d->largest_reference)) row.push_back(std::move(cell));
            row.push_back(finite(d->difference));
        }
        table.add(std::move(row));
    }
    table.print(std::cout, "  ");
}

void print_times(std::span<const CaseResult> group) {
    text::Table table({"algorithm", "Br x Bc", "warm ms", "cold ms", "TFLOP/s", "GB/s"}, 2);
    for (const CaseResult& r : group)
        if (r.times)
            table.add({r.tested.algorithm->name, tiles_of(r.tested), text::number(r.times->warm),
                       text::number(r.times->cold), text::number(r.tflops()), text::number(r.gbs())});
    std::cout << "  Times: medians; cold: with L2 overwritten before. TFLOP/s, GB/s: simulated matrix FLOPs and "
                 "simulated HBM bytes over the warm time\n";
    table.print(std::cout, "  ");
}

/// "+0.13%", or why there is none.
std::string percent(double simulated, const std::optional<double>& measured) {
    if (!measured || simulated == 0) return "";
    char text[32];
    std::snprintf(text, sizeof text, "%+.2f%%", 100 * (*measured - simulated) / simulated);
    return text;
}

std::string grouped(const std::optional<double>& x) {
    return x ? text::grouped(static_cast<Count>(std::llround(*x))) : "n/a";
}

std::string plain(const std::optional<double>& x) { return x ? text::number(*x) : "n/a"; }

/// What has to come from DRAM and go back at least: inputs and outputs, once.
Bytes compulsory(const CaseResult& r, Role role) {
    Bytes sum = 0;
    for (const TensorReport& t : r.counted.tensors) sum += t.role == role ? t.bytes : 0;
    return sum;
}

void print_on_chip(const CaseResult& r, const Measured& m) {
    Index blocks = 0;
    double waves = 0;
    for (const LaunchInfo& l : r.counted.launches) {
        const Occupancy o = occupancy(l, r.counted.experiment.gpu);
        if (o.waves >= waves) waves = o.waves, blocks = o.blocks_per_sm;
    }
    std::cout << "    blocks per SM: modelled " << blocks << "; ncu's limits: shared memory "
              << plain(m.blocks_by_shared) << ", registers " << plain(m.blocks_by_registers) << "; waves: modelled "
              << text::number(waves) << ", ncu " << plain(m.waves) << '\n';
    if (m.shared_wavefronts && m.shared_conflicts && *m.shared_wavefronts > 0)
        std::cout << "    shared memory: " << text::count(*m.shared_wavefronts) << " wavefronts, "
                  << text::number(100 * *m.shared_conflicts / *m.shared_wavefronts) << "% of them bank conflicts\n";
    if (m.microseconds) std::cout << "    under ncu: " << text::number(*m.microseconds / 1000) << " ms, caches cold";
    if (m.tensor_instructions && *m.tensor_instructions > 0)
        std::cout << "; " << text::count(*m.tensor_instructions) << " tensor-core instructions";
    std::cout << '\n';
}

/// A cell of the CSV as a number, a text, or null where it is empty or no finite number.
Json value_of(const std::string& cell) {
    if (cell.empty() || cell == "nan" || cell == "inf") return nullptr;
    const Json number = Json::parse(cell, nullptr, false);
    return number.is_number() ? number : Json(cell);
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

/// In the order of the registry, f32 first.
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

/// Whether this part of a provenance is the same for everything measured on one machine.
bool of_place(const std::string& key) { return key != "date" && key != "command"; }

std::string place_of(const MeasurementFile& f) {
    std::string place;
    for (const auto& [key, value] : f.provenance)
        if (of_place(key)) place += "  " + key + ": " + value + '\n';
    return place;
}

void print_rows(const Rows& measured, const std::vector<std::string>& names) {
    text::Table table({"kernel", "batch x heads", "Nq x Nk", "d, dv", "causal", "Br x Bc", "status", "warm ms",
                       "TFLOP/s", "read difference", "write difference"});
    const auto pair = [](const MeasuredRow& r, const char* a, const char* by, const char* b) {
        return std::string(r[a]) + by + std::string(r[b]);
    };
    for (const MeasuredRow* row : measured) {
        const MeasuredRow& r = *row;
        if (std::ranges::find(names, r["algorithm"]) == names.end()) continue;
        table.add({pair(r, "algorithm", " ", "dtype"), pair(r, "batch", " x ", "heads"),
                   pair(r, "seq_q", " x ", "seq_k"), pair(r, "dim", ", ", "dim_v"), r["causal"] == "1" ? "yes" : "no",
                   pair(r, "br", " x ", "bc"), std::string(r["status"]), std::string(r["warm_ms"]),
                   std::string(r["tflops"]),
                   signed_percent(deviation(r, "measured_read_bytes", "simulated_read_bytes")),
                   signed_percent(deviation(r, "measured_write_bytes", "simulated_write_bytes"))});
    }
    table.print(std::cout, "  ");
}

}  // namespace

std::string describe(const Device& d) {
    return d.name + ": compute capability " + d.compute_capability + ", " + std::to_string(d.sms) + " SMs, L2 " +
           text::bytes(static_cast<double>(d.l2)) + ", memory " + text::bytes(static_cast<double>(d.memory)) + " (" +
           text::bytes(static_cast<double>(d.memory_free)) + " free); driver " + d.driver + ", CUDA runtime " +
           d.runtime;
}

void print_values(std::span<const CaseResult> group) {
    const CaseResult& first = group.front();
    std::cout << '\n' << lab::describe(first.tested.problem, *first.tested.algorithm->computes) << '\n';
    std::cout << "  Errors against the double-precision reference, in brackets relative to the largest output\n";
    print_errors(group);
    if (std::ranges::any_of(group, [](const CaseResult& r) { return r.times.has_value(); })) print_times(group);
    for (const CaseResult& r : group)
        if (!r.note.empty())
            std::cout << "  " << r.tested.algorithm->name << ' ' << tiles_of(r.tested) << ": " << name_of(r.status)
                      << ": " << r.note << (r.status == Status::wrong ? "; again: " + command_of(r.tested) : "")
                      << '\n';
}

void print_counters(const CaseResult& r) {
    if (!r.measured) return;
    const Measured& m = *r.measured;
    const Counters& c = r.counted.counters;
    const KernelCase& k = r.tested;
    std::cout << '\n'
              << k.algorithm->name << ", Br x Bc " << tiles_of(k) << ": "
              << lab::describe(k.problem, *k.algorithm->computes) << '\n';
    text::Table table({"level", "simulated", "measured", "difference"});
    const auto add = [&](const char* level, Count simulated, const std::optional<double>& measured) {
        table.add(
            {level, text::grouped(simulated), grouped(measured), percent(static_cast<double>(simulated), measured)});
    };
    add("L2 to SM, bytes (HBM reads)", c.hbm_read, m.read_bytes);
    add("SM to L2, bytes (HBM writes)", c.hbm_write, m.write_bytes);
    table.add(
        {"DRAM read, bytes", text::grouped(compulsory(r, Role::input)) + " at least", grouped(m.dram_read_bytes)});
    table.add(
        {"DRAM written, bytes", text::grouped(compulsory(r, Role::output)) + " at least", grouped(m.dram_write_bytes)});
    add("exponentials, special-function operations", c.exps, m.xu_ops);
    if (c.matmul_flops > 0)
        add("matrix FLOPs, fp32 FMA FLOPs", c.matmul_flops,
            k.problem.dtype == Dtype::f32 ? m.ffma_flops : std::nullopt);
    table.print(std::cout, "    ");
    print_on_chip(r, m);
}

Json to_json(const Device& d) {
    return {{"name", d.name},
            {"compute_capability", d.compute_capability},
            {"sms", d.sms},
            {"l2_bytes", d.l2},
            {"memory_bytes", d.memory},
            {"memory_free_bytes", d.memory_free},
            {"driver", d.driver},
            {"cuda_runtime", d.runtime}};
}

Json to_json(const CaseResult& r) {
    Json j;
    for (const auto& [column, cell] : cells_of(r)) j[column] = value_of(cell);
    j["causal"] = r.tested.problem.mask.is_causal();
    if (r.deviations) {
        j["kernel_not_finite"] = r.deviations->kernel.not_finite + r.deviations->not_finite_unchecked;
        j["simulator_not_finite"] = r.deviations->simulator.not_finite;
    }
    j["note"] = r.note;
    j["command"] = command_of(r.tested);
    return j;
}

void print_shipped(const std::vector<MeasurementFile>& files, const std::vector<std::string>& algorithms) {
    if (files.empty()) {
        std::cout << "\nNo reference measurements ship with this tilescope.\n";
        return;
    }
    std::map<std::string, std::vector<const MeasurementFile*>> places;
    for (const MeasurementFile& f : files) places[place_of(f)].push_back(&f);
    for (const auto& [place, there] : places) {
        std::cout << "\nMeasured before, and shipped with tilescope\n" << place;
        Rows rows;
        for (const MeasurementFile* f : there) {
            for (const auto& [key, value] : f->provenance)
                if (!of_place(key)) std::cout << "  " << key << ": " << value << '\n';
            for (const MeasuredRow& r : f->rows) rows.push_back(&r);
        }
        algorithms.empty() ? print_summary(rows) : print_rows(rows, algorithms);
    }
    std::cout << "\ndocs/validation.md explains every difference above 1%.\n";
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
