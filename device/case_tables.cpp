#include "device/case_tables.hpp"

#include <cmath>
#include <cstdio>

#include "core/machine/counters.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/flags/describe.hpp"

namespace tilescope::device {
using namespace lab;
using text::message;
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
    return message("cases.device", d.name, d.compute_capability, std::to_string(d.sms), text::bytes(d.l2),
                   text::bytes(d.memory), text::bytes(d.memory_free), d.driver, d.runtime);
}

std::string tiles_of(const Tiling& t, Index packed) {
    const std::string br = std::to_string(t.br), bc = std::to_string(t.bc), splits = std::to_string(t.splits);
    if (packed > 1)
        return t.splits > 0 ? message("cases.packed_tiles_and_parts", br, bc, splits, std::to_string(packed))
                            : message("cases.packed_tiles", br, bc, std::to_string(packed));
    return t.splits > 0 ? message("cases.tiles_and_parts", br, bc, splits) : message("cases.tiles", br, bc);
}

std::string with_roles(const std::string& tiles, const std::string& roles) {
    return roles.empty() ? tiles : message("cases.tiles_and_roles", tiles, roles);
}

std::string tiles_of(const KernelCase& c) {
    return with_roles(tiles_of(c.tile(), c.problem.packed), other_roles(*c.algorithm, *c.variant));
}

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
    text::Table table(text::titles({"cases.algorithm", "cases.br_bc", "cases.status", "cases.heads_checked",
                                    "cases.output", "cases.kernel_max", "cases.kernel_rms", "cases.simulator_max",
                                    "cases.simulator_rms", "cases.difference_of_both"}),
                      3);
    for (const CaseResult& r : group) {
        std::vector<std::string> row = {r.tested.algorithm->name, tiles_of(r.tested), in_words(r.status)};
        if (const auto& d = r.deviations) {
            const std::string checked = std::to_string(d->heads_checked), heads = std::to_string(r.heads());
            const Index rows = d->rows_checked;
            row.push_back(rows < r.tested.problem.seq_q
                              ? message("cases.last_rows_of_heads", checked, heads, std::to_string(rows), rows)
                              : message("cases.of_heads", checked, heads));
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
    text::Table table(
        text::titles({"cases.algorithm", "cases.br_bc", "cases.warm", "cases.cold", "cases.tflops", "cases.gbs"}), 2);
    for (const CaseResult& r : group)
        if (r.times)
            table.add({r.tested.algorithm->name, tiles_of(r.tested), text::duration(r.times->warm * 1e-3),
                       text::duration(r.times->cold * 1e-3), text::number(r.tflops()), text::number(r.gbs())});
    return table;
}

text::Table counters_table(const CaseResult& r) {
    const Measured& m = *r.measured;
    const Counters& c = r.counted.counters;
    text::Table table(text::titles({"cases.level", "cases.simulated", "cases.measured", "cases.difference"}));
    const auto add = [&](const char* level, Count simulated, const std::optional<double>& measured) {
        table.add({message(level), text::grouped(simulated), grouped(measured),
                   signed_percent(percent_off(measured, static_cast<double>(simulated)))});
    };
    add("cases.sm_reads", c.hbm_read, m.read_bytes);
    add("cases.sm_writes", c.hbm_write, m.write_bytes);
    if (c.hbm_reduce > 0) add("cases.sm_reductions", c.hbm_reduce, m.reduce_bytes);
    if (const auto dram = r.counted.dram()) {
        add("cases.dram_read_modelled", dram->read, m.dram_read_bytes);
        add("cases.dram_written_modelled", dram->written, m.dram_write_bytes);
    } else {
        table.add({message("cases.dram_read"), message("cases.at_least", r.counted.compulsory_read()),
                   grouped(m.dram_read_bytes)});
        table.add({message("cases.dram_written"), "", grouped(m.dram_write_bytes)});
    }
    add("cases.exponentials", c.exps, m.xu_ops);
    if (c.matmul_flops > 0)
        add("cases.matrix_flops", c.matmul_flops, r.tested.problem.dtype == Dtype::f32 ? m.ffma_flops : std::nullopt);
    return table;
}

std::string on_chip_text(const CaseResult& r) {
    const Measured& m = *r.measured;
    const std::string indent = "    ";
    std::string said;
    if (r.counted.time) {
        const LaunchTime& longest = r.counted.time->longest();
        const double waves = longest.waves * static_cast<double>(started(longest)) /
                             static_cast<double>(std::max<Count>(1, longest.blocks));
        said += indent +
                message("cases.blocks", std::to_string(longest.residency.blocks), plain(m.blocks_by_shared),
                        plain(m.blocks_by_registers), text::number(waves), plain(m.waves)) +
                '\n';
    }
    if (m.shared_wavefronts && m.shared_conflicts && *m.shared_wavefronts > 0)
        said += indent +
                message("cases.shared_memory", text::count(*m.shared_wavefronts),
                        text::number(100 * *m.shared_conflicts / *m.shared_wavefronts)) +
                '\n';
    if (m.microseconds) said += indent + message("cases.under_ncu", text::duration(*m.microseconds * 1e-6));
    if (m.tensor_instructions && *m.tensor_instructions > 0)
        said += "; " + message("cases.on_tensor_cores", text::count(*m.tensor_instructions));
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
