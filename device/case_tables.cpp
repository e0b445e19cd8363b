#include "device/case_tables.hpp"

#include <cmath>
#include <cstdio>

#include "core/machine/counters.hpp"
#include "core/text/numbers.hpp"
#include "lab/flags/describe.hpp"

namespace tilescope::device {
using namespace lab;
namespace {

/// "1.2e-07 (4.1e-08)": an error, and the same relative to the largest output.
std::string with_relative(double error, double largest) {
    return text::number(error) + (largest > 0 ? " (" + text::number(error / largest) + ')' : "");
}

std::vector<std::string> error_cells(const OutputError& e, double largest) {
    if (!e.tells()) return {"NaN", "NaN"};
    return {with_relative(e.max_abs, largest), with_relative(e.rms, largest)};
}

std::string finite(double x) { return std::isfinite(x) ? text::number(x) : "NaN"; }

std::string grouped(const std::optional<double>& x) {
    return x ? text::grouped(static_cast<Count>(std::llround(*x))) : "n/a";
}

std::string plain(const std::optional<double>& x) { return x ? text::number(*x) : "n/a"; }

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

}  // namespace

std::string device_text(const Device& d) {
    return d.name + ": compute capability " + d.compute_capability + ", " + std::to_string(d.sms) + " SMs, L2 " +
           text::bytes(d.l2) + ", memory " + text::bytes(d.memory) + " (" + text::bytes(d.memory_free) +
           " free); driver " + d.driver + ", CUDA runtime " + d.runtime;
}

std::string tiles_of(const Tiling& t, Index packed) {
    return std::to_string(t.br) + " x " + std::to_string(t.bc) +
           (t.splits > 0 ? ", S " + std::to_string(t.splits) : "") +
           (packed > 1 ? ", packed " + std::to_string(packed) : "");
}

std::string tiles_of(const KernelCase& c) { return tiles_of(c.tile(), c.problem.packed); }

std::optional<double> percent_off(const std::optional<double>& measured, const std::optional<double>& simulated) {
    if (!measured || !simulated || *simulated == 0) return std::nullopt;
    return 100 * (*measured - *simulated) / *simulated;
}

std::string signed_percent(const std::optional<double>& x) {
    char text[32] = "";
    if (x) std::snprintf(text, sizeof text, "%+.2f%%", *x);
    return text;
}

text::Table errors_table(std::span<const CaseResult> group) {
    text::Table table({"algorithm", "Br x Bc", "status", "heads checked", "output", "kernel max", "kernel rms",
                       "simulator max", "simulator rms", "kernel - simulator"},
                      3);
    for (const CaseResult& r : group) {
        std::vector<std::string> row = {r.tested.algorithm->name, tiles_of(r.tested), name_of(r.status)};
        if (const auto& d = r.deviations) {
            row.push_back(std::to_string(d->heads_checked) + " of " + std::to_string(r.heads()) +
                          (d->rows_checked < r.tested.problem.seq_q
                               ? ", last " + std::to_string(d->rows_checked) + " rows"
                               : ""));
            row.push_back(d->output);
            for (const OutputError* e : {&d->kernel, &d->simulator})
                for (std::string& cell : error_cells(*e, d->largest_reference)) row.push_back(std::move(cell));
            row.push_back(finite(d->difference));
        }
        table.add(std::move(row));
    }
    return table;
}

text::Table times_table(std::span<const CaseResult> group) {
    text::Table table({"algorithm", "Br x Bc", "warm", "cold", "TFLOP/s", "GB/s"}, 2);
    for (const CaseResult& r : group)
        if (r.times)
            table.add({r.tested.algorithm->name, tiles_of(r.tested), text::duration(r.times->warm * 1e-3),
                       text::duration(r.times->cold * 1e-3), text::number(r.tflops()), text::number(r.gbs())});
    return table;
}

text::Table counters_table(const CaseResult& r) {
    const Measured& m = *r.measured;
    const Counters& c = r.counted.counters;
    text::Table table({"level", "simulated", "measured", "difference"});
    const auto add = [&](const char* level, Count simulated, const std::optional<double>& measured) {
        table.add({level, text::grouped(simulated), grouped(measured),
                   signed_percent(percent_off(measured, static_cast<double>(simulated)))});
    };
    add("L2 to SM, bytes (SM reads)", c.hbm_read, m.read_bytes);
    add("SM to L2, bytes (SM writes)", c.hbm_write, m.write_bytes);
    if (c.hbm_reduce > 0) add("SM to L2, bytes (SM reductions)", c.hbm_reduce, m.reduce_bytes);
    if (const auto dram = r.counted.dram()) {
        add("DRAM read, bytes (modelled)", dram->read, m.dram_read_bytes);
        add("DRAM written, bytes (modelled)", dram->written, m.dram_write_bytes);
    } else {
        table.add(
            {"DRAM read, bytes", "at least " + text::grouped(r.counted.compulsory_read()), grouped(m.dram_read_bytes)});
        table.add({"DRAM written, bytes", "", grouped(m.dram_write_bytes)});
    }
    add("exponentials, special-function operations", c.exps, m.xu_ops);
    if (c.matmul_flops > 0)
        add("matrix FLOPs, fp32 FMA FLOPs", c.matmul_flops,
            r.tested.problem.dtype == Dtype::f32 ? m.ffma_flops : std::nullopt);
    return table;
}

std::string on_chip_text(const CaseResult& r) {
    const Measured& m = *r.measured;
    const LaunchTime& longest = r.counted.time->longest();
    std::string said = "    blocks per SM: modelled " + std::to_string(longest.residency.blocks) +
                       "; ncu's limits: shared memory " + plain(m.blocks_by_shared) + ", registers " +
                       plain(m.blocks_by_registers) + "; waves: modelled " + text::number(longest.waves) + ", ncu " +
                       plain(m.waves) + '\n';
    if (m.shared_wavefronts && m.shared_conflicts && *m.shared_wavefronts > 0)
        said += "    shared memory: " + text::count(*m.shared_wavefronts) + " wavefronts, " +
                text::number(100 * *m.shared_conflicts / *m.shared_wavefronts) + "% of them bank conflicts\n";
    if (m.microseconds) said += "    under ncu: " + text::duration(*m.microseconds * 1e-6) + ", caches cold";
    if (m.tensor_instructions && *m.tensor_instructions > 0)
        said += "; " + text::count(*m.tensor_instructions) + " tensor-core instructions";
    return said + '\n';
}

Json value_of(const std::string& cell) {
    if (cell.empty() || cell == "nan" || cell == "inf") return nullptr;
    const Json number = Json::parse(cell, nullptr, false);
    return number.is_number() ? number : Json(cell);
}

Json to_json(const Device& device, std::span<const CaseResult> results) {
    Json j = {{"schema", "tilescope.validate/1"}, {"device", to_json(device)}, {"cases", Json::array()}};
    for (const CaseResult& r : results) j["cases"].push_back(to_json(r));
    return j;
}

}  // namespace tilescope::device
