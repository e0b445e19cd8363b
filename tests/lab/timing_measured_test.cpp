// The time model compared with measurements.
#include <algorithm>
#include <cmath>
#include <map>

#include "device/measurements.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::device;

namespace {

struct Errors {
    double sum = 0, worst = 0;
    int n = 0;
    void add(double e) { sum += std::abs(e), worst = std::max(worst, std::abs(e)), ++n; }
    double mean() const { return sum / n; }
};

/// Kernels whose errors are given together.
std::string family_of(const Algorithm& a, Style style) {
    if (style == Style::tensor_cores) return std::string(a.name) + ", tensor cores";
    return a.computes == &computation::softmax ? "softmax" : a.name;
}

/// A case that was measured on an H200 (docs/measured/h200), with the model's time.
struct MeasuredCase {
    const MeasuredRow* row;
    Experiment experiment;
    RunTime time;

    std::string family() const {
        return family_of(*experiment.algorithm,
                         experiment.problem.dtype == Dtype::f32 ? Style::cuda_cores : Style::tensor_cores);
    }
    std::string words() const {
        std::string all;
        for (const char* column :
             {"dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k", "dim", "dim_v", "causal", "br", "bc"})
            all += std::string((*row)[column]) + ' ';
        return all;
    }
};

std::vector<MeasuredCase> all_measured(const std::vector<MeasurementFile>& files) {
    std::vector<MeasuredCase> all;
    for (const MeasurementFile& file : files)
        for (const MeasuredRow& row : file.rows) {
            if (row["status"] != "ok") continue;
            const Experiment e = experiment_of(case_of(row), gpu_preset("H200"));
            all.push_back({&row, e, time_of(e)});
        }
    return all;
}

struct Limit {
    std::string family;
    double mean, worst;
};

/// Checks relative errors by family; `error` gives nullopt where a case has none.
template <class Error>
void check_errors(const std::vector<MeasuredCase>& all, const std::vector<Limit>& limits, Error&& error,
                  int at_least = 25) {
    std::map<std::string, Errors> errors;
    for (const MeasuredCase& m : all)
        if (const std::optional<double> e = error(m)) errors[m.family()].add(*e);
    for (const Limit& l : limits) {
        const Errors& e = errors.at(l.family);
        INFO(l.family << ": " << e.n << " cases, mean " << e.mean() << ", worst " << e.worst);
        CHECK(e.n >= at_least);
        CHECK(e.mean() <= l.mean);
        CHECK(e.worst <= l.worst);
    }
}

void check_times(const std::vector<MeasuredCase>& all, bool backward) {
    std::vector<Limit> limits;
    for (const Algorithm& a : algorithms())
        for (const Style style : {Style::cuda_cores, Style::tensor_cores}) {
            const auto& stated = a.kernel->stated_error(style);
            if (stated && (a.computes == &computation::attention_backward) == backward)
                limits.push_back({family_of(a, style), stated->mean, stated->worst});
        }
    CHECK(limits.size() >= (backward ? 6 : 13));
    check_errors(
        all, limits,
        [](const MeasuredCase& m) -> std::optional<double> {
            const auto ms = m.row->number("warm_ms");
            return ms ? std::optional(m.time.us() / (1000 * *ms) - 1) : std::nullopt;
        },
        backward ? 12 : 25);
}

/// Of kernels with lanes each case says how far off such times are.
void check_lanes(const std::vector<MeasuredCase>& all) {
    Errors errors;
    std::optional<StatedError> stated;
    for (const MeasuredCase& m : all) {
        if (!m.time.launches[0].lanes) continue;
        INFO(m.experiment.algorithm->name << ' ' << m.words());
        CHECK(m.time.basis == Basis::own_style);
        REQUIRE(m.time.error);
        stated = m.time.error;
        errors.add(m.time.us() / (1000 * *m.row->number("warm_ms")) - 1);
    }
    REQUIRE(stated);
    INFO(errors.n << " cases, mean " << errors.mean() << ", worst " << errors.worst);
    CHECK(errors.n >= 40);
    CHECK(errors.mean() <= stated->mean);
    CHECK(errors.worst <= stated->worst);
}

std::optional<double> dram_read_error(const MeasuredCase& m) {
    const auto read = m.row->number("dram_read_bytes");
    const auto modelled = m.time.dram();
    if (!read || *read < 20e6 || !modelled) return std::nullopt;
    return static_cast<double>(modelled->read) / *read - 1;
}

void check_dram_reads(const std::vector<MeasuredCase>& all) {
    check_errors(all,
                 {{"flash_v2", 0.01, 0.055},
                  {"memory_efficient", 0.01, 0.04},  // 16,384 keys were measured twice: 51.9 and 52.5 MB
                  {"two_pass", 0.01, 0.04},
                  {"three_pass", 0.01, 0.065},
                  {"softmax", 0.005, 0.01},
                  {"standard", 0.03, 0.26}},
                 dram_read_error);
    std::vector<double> one_block_per_head;
    for (const MeasuredCase& m : all)
        if (const std::string family = m.family(); family == "flash_v1" || family == "chunked")
            if (const std::optional<double> e = dram_read_error(m)) one_block_per_head.push_back(std::abs(*e));
    std::sort(one_block_per_head.begin(), one_block_per_head.end());
    CHECK(one_block_per_head.size() >= 60);
    CHECK(one_block_per_head[one_block_per_head.size() / 2] <= 0.05);
}

void check_residency(const std::vector<MeasuredCase>& all) {
    for (const MeasuredCase& m : all) {
        if (m.experiment.problem.seq_q < m.experiment.tiling.br) continue;  // a kernel takes room for a whole tile
        INFO(m.experiment.algorithm->name << ' ' << m.words());
        // The residency of the launch that took longest was counted.
        if (const auto n = m.row->number("blocks_per_sm"))
            CHECK(std::any_of(m.time.launches.begin(), m.time.launches.end(), [&](const LaunchTime& l) {
                return l.compiled && static_cast<double>(l.residency.blocks) == *n;
            }));
    }
}

/// Checks the rule for registers, on which the residency of tiles without a compiled kernel relies. A kernel with one
/// type, tile and pair of dimensions counts once.
void check_estimated_residency(const std::vector<MeasuredCase>& all) {
    std::map<std::string, bool> right, of_parts;
    for (const MeasuredCase& m : all)
        if (const auto n = m.row->number("blocks_per_sm")) {
            const Problem& p = m.experiment.problem;
            const std::string instance = m.family() + ' ' + name_of(p.dtype) + ' ' + m.experiment.algorithm->name +
                                         ' ' + std::to_string(m.experiment.tiling.br) + 'x' +
                                         std::to_string(m.experiment.tiling.bc) + ' ' + std::to_string(p.dim) + ' ' +
                                         std::to_string(p.dim_v);
            auto& found = has_splits(m.experiment.algorithm->knobs) ? of_parts : right;
            if (found.count(instance)) continue;
            const RunTime t = time_of(m.experiment, {.registers = RegistersFrom::rule});
            found[instance] = std::any_of(t.launches.begin(), t.launches.end(), [&](const LaunchTime& l) {
                return static_cast<double>(l.residency.blocks) == *n;
            });
        }
    const auto n = std::count_if(right.begin(), right.end(), [](const auto& r) { return r.second; });
    INFO(n << " of " << right.size());
    CHECK(right.size() >= 86);
    CHECK(static_cast<double>(n) >= 0.82 * static_cast<double>(right.size()));
    // split_kv's decoding kernels ask for more than they use, so that an SM holds two.
    const auto parts = std::count_if(of_parts.begin(), of_parts.end(), [](const auto& r) { return r.second; });
    INFO(parts << " of " << of_parts.size() << " of parts");
    CHECK(5 * parts >= 2 * static_cast<Index>(of_parts.size()));
}

void check_order(const std::vector<MeasuredCase>& all) {
    int pairs = 0;
    for (const MeasuredCase& one : all)
        for (const MeasuredCase& two : all) {
            if (one.experiment.algorithm->name != std::string("flash_v1") ||
                two.experiment.algorithm->name != std::string("flash_v2") || one.words() != two.words())
                continue;
            const auto slow = one.row->number("warm_ms"), fast = two.row->number("warm_ms");
            if (!slow || !fast) continue;
            INFO(one.words());
            CHECK((*slow > *fast) == (one.time.us() > two.time.us()));
            ++pairs;
        }
    CHECK(pairs >= 16);
}

}  // namespace

TEST_CASE("the model is as far from devices as documented", "[long][timing]") {
    const std::vector<MeasurementFile> files = shipped_measurements();
    const std::vector<MeasuredCase> all = all_measured(files);
    check_times(all, false);
    check_lanes(all);
    check_dram_reads(all);
    check_residency(all);
    check_estimated_residency(all);
    check_order(all);
}

TEST_CASE("times of backward kernels are as far off as is said", "[timing][shipped]") {
    const std::vector<MeasurementFile> files = shipped_backward();
    check_times(all_measured(files), true);
}
