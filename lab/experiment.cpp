#include "lab/experiment.hpp"

#include "core/machine/parallel.hpp"

namespace tilescope::lab {
namespace {

Report report_of(const Experiment& e, const Gpu& gpu) {
    Report r;
    r.experiment = e;
    r.numeric = gpu.mode().data;
    r.counters = gpu.total();
    TensorId id = 0;
    const auto common = e.algorithm->computes->tensors(e.problem);  // of every algorithm of the computation
    r.tensors.reserve(gpu.tensors().size());
    for (const TensorInfo& t : gpu.tensors()) {
        const bool extra =
            std::none_of(common.begin(), common.end(), [&](const TensorDecl& c) { return c.name == t.name; });
        r.tensors.push_back({t.name, t.role, t.meaning, extra, t.bytes(), gpu.traffic(id++)});
        if (extra) r.hbm_extra += t.bytes();
        if (t.role == Role::output && t.data) r.outputs[t.name] = t.data;
    }
    r.launches = gpu.launches();
    r.sram_peak = gpu.peak(Space::sram);
    r.register_peak = gpu.peak(Space::registers);
    r.hbm_footprint = gpu.hbm_footprint();
    r.notes = gpu.notes();
    return r;
}

}  // namespace

void run_program(Gpu& gpu, const Algorithm& algorithm, const Problem& problem, const Tiling& tiling,
                 const Inputs& inputs) {
    if (const auto refusal = refuses(algorithm, problem))
        throw UsageError(std::string(algorithm.name) + ": " + name_of(refusal->feature) + " is not what it can do");
    Tensors tensors;
    for (const TensorDecl& t : algorithm.tensors(problem, tiling)) {
        const auto given = inputs.find(std::string_view(t.name));
        tensors.add(t.name, gpu.add({t.name, t.role, t.dtype, t.slices, t.rows, t.cols,
                                     given != inputs.end() ? given->second : nullptr, t.meaning,
                                     problem.batch_heads() / t.slices}));
    }
    algorithm.run(gpu, tensors, problem, tiling);
}

std::shared_ptr<const Storage> Report::output() const {
    const auto found = outputs.find(experiment.algorithm->computes->output);
    return found == outputs.end() ? nullptr : found->second;
}

const OutputError* Report::error() const {
    const auto found = errors.find(experiment.algorithm->computes->output);
    return found == errors.end() ? nullptr : &found->second;
}

double Report::arithmetic_intensity() const {
    return static_cast<double>(counters.flops()) / static_cast<double>(counters.hbm());
}

Occupancy occupancy(const LaunchInfo& launch, const GpuSpec& gpu) {
    const Bytes reserved = gpu.sram_per_sm - gpu.sram_per_block;  // per thread block, by the system
    Index per_sm = gpu.max_blocks_per_sm;
    if (launch.sram_peak > 0) per_sm = std::min(per_sm, gpu.sram_per_sm / (launch.sram_peak + reserved));
    if (launch.register_peak > 0) per_sm = std::min(per_sm, gpu.registers_per_sm / launch.register_peak);
    return {per_sm, static_cast<double>(launch.thread_blocks) / static_cast<double>(per_sm * gpu.sms)};
}

Report count(const Experiment& e, Control* control, std::span<Listener* const> listeners) {
    Gpu gpu(e.gpu, count_mode, 1, control);
    for (Listener* l : listeners) gpu.listen(*l);
    run_program(gpu, *e.algorithm, e.problem, e.tiling, {});
    return report_of(e, gpu);
}

Report execute(const Experiment& e, const Inputs& inputs, int threads, Control* control) {
    Gpu gpu(e.gpu, numeric_mode, threads, control);
    run_program(gpu, *e.algorithm, e.problem, e.tiling, inputs);
    return report_of(e, gpu);
}

Bytes host_memory(const Experiment& e) {
    Bytes sum = 0;
    for (const TensorDecl& t : e.algorithm->tensors(e.problem, e.tiling))
        sum += t.slices * t.rows * t.cols * size_of(t.dtype);
    return sum;
}

double seconds_to_execute(const Report& counted, int threads) {
    const double used = threads > 0 ? threads : cores();
    const Counters& c = counted.counters;
    // Per core and second: 15 G matrix FLOPs, 0.3 G exponentials, 1 G of the rest, and the double reference at half
    // that.
    return (3 * static_cast<double>(c.matmul_flops) / 15e9 + static_cast<double>(c.exps) / 3e8 +
            static_cast<double>(c.other_flops) / 1e9) /
           used;
}

}  // namespace tilescope::lab
