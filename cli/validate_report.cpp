#include "cli/validate_report.hpp"

#include <cmath>
#include <cstdio>
#include <iostream>

#include "core/machine/counters.hpp"
#include "core/text/numbers.hpp"
#include "core/text/table.hpp"
#include "lab/flags/describe.hpp"
#include "show/words/time_text.hpp"

namespace tilescope::cli {
using namespace lab;
using namespace device;
namespace {

std::string tiles_of(const KernelCase& c) {
    return std::to_string(c.variant->tile.br) + " x " + std::to_string(c.variant->tile.bc) +
           (c.splits > 0 ? ", S " + std::to_string(c.splits) : "") +
           (c.problem.packed > 1 ? ", packed " + std::to_string(c.problem.packed) : "");
}

/// "1.2e-07 (4.1e-08)": an error, and the same relative to the largest output.
std::string with_relative(double error, double largest) {
    return text::number(error) + (largest > 0 ? " (" + text::number(error / largest) + ')' : "");
}

std::vector<std::string> error_cells(const OutputError& e, double largest) {
    if (!e.tells()) return {"NaN", "NaN"};
    return {with_relative(e.max_abs, largest), with_relative(e.rms, largest)};
}

std::string finite(double x) { return std::isfinite(x) ? text::number(x) : "NaN"; }

void print_errors(std::span<const CaseResult> group) {
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
    table.print(std::cout, "  ");
}

void print_times(std::span<const CaseResult> group) {
    text::Table table({"algorithm", "Br x Bc", "warm", "cold", "TFLOP/s", "GB/s"}, 2);
    for (const CaseResult& r : group)
        if (r.times)
            table.add({r.tested.algorithm->name, tiles_of(r.tested), show::duration(r.times->warm * 1e-3),
                       show::duration(r.times->cold * 1e-3), text::number(r.tflops()), text::number(r.gbs())});
    std::cout << "  Times: medians; cold: with other data in L2 before. TFLOP/s, GB/s: simulated matrix FLOPs and "
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

void print_on_chip(const CaseResult& r, const Measured& m) {
    const LaunchTime& longest = r.counted.time->longest();
    const auto blocks = longest.residency.blocks;
    const double waves = longest.waves;
    std::cout << "    blocks per SM: modelled " << blocks << "; ncu's limits: shared memory "
              << plain(m.blocks_by_shared) << ", registers " << plain(m.blocks_by_registers) << "; waves: modelled "
              << text::number(waves) << ", ncu " << plain(m.waves) << '\n';
    if (m.shared_wavefronts && m.shared_conflicts && *m.shared_wavefronts > 0)
        std::cout << "    shared memory: " << text::count(*m.shared_wavefronts) << " wavefronts, "
                  << text::number(100 * *m.shared_conflicts / *m.shared_wavefronts) << "% of them bank conflicts\n";
    if (m.microseconds) std::cout << "    under ncu: " << show::duration(*m.microseconds * 1e-6) << ", caches cold";
    if (m.tensor_instructions && *m.tensor_instructions > 0)
        std::cout << "; " << text::count(*m.tensor_instructions) << " tensor-core instructions";
    std::cout << '\n';
}

}  // namespace

Json value_of(const std::string& cell) {
    if (cell.empty() || cell == "nan" || cell == "inf") return nullptr;
    const Json number = Json::parse(cell, nullptr, false);
    return number.is_number() ? number : Json(cell);
}

std::string device_text(const Device& d) {
    return d.name + ": compute capability " + d.compute_capability + ", " + std::to_string(d.sms) + " SMs, L2 " +
           text::bytes(d.l2) + ", memory " + text::bytes(d.memory) + " (" + text::bytes(d.memory_free) +
           " free); driver " + d.driver + ", CUDA runtime " + d.runtime;
}

void print_values(std::span<const CaseResult> group) {
    const CaseResult& first = group.front();
    std::cout << '\n' << describe(first.tested.problem, *first.tested.algorithm->computes) << '\n';
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
              << k.algorithm->name << ", Br x Bc " << tiles_of(k) << ": " << describe(k.problem, *k.algorithm->computes)
              << '\n';
    text::Table table({"level", "simulated", "measured", "difference"});
    const auto add = [&](const char* level, Count simulated, const std::optional<double>& measured) {
        table.add(
            {level, text::grouped(simulated), grouped(measured), percent(static_cast<double>(simulated), measured)});
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

}  // namespace tilescope::cli
