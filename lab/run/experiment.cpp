#include "lab/run/experiment.hpp"

#include "algorithms/contract/accumulator.hpp"
#include "algorithms/contract/feature_names.hpp"
#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/refusal.hpp"
#include "algorithms/contract/scales.hpp"
#include "core/machine/launch_info.hpp"
#include "core/machine/parallel.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/workload/packing.hpp"
#include "lab/workload/paging.hpp"
#include "lab/workload/rounding.hpp"

namespace tilescope::lab {
using text::message;
namespace {

std::shared_ptr<Storage> zeros(const TensorDecl& t) {
    auto storage = std::make_shared<Storage>(t.dtype, t.slices, t.rows, t.cols);
    const std::vector<float> row(static_cast<std::size_t>(t.cols));
    for (Index k = 0; k < t.slices * t.rows; ++k) storage->write(k * t.cols, row);
    return storage;
}

Report report_of(const Experiment& e, const Gpu& gpu) {
    Report r;
    r.experiment = e;
    r.numeric = gpu.mode().data;
    r.counters = gpu.total();
    TensorId id = 0;
    const auto common = e.algorithm->computes->tensors(e.problem);  // tensors of every algorithm for the computation
    r.tensors.reserve(gpu.tensors().size());
    for (const TensorInfo& t : gpu.tensors()) {
        const bool extra = t.role == Role::scratch || std::none_of(common.begin(), common.end(), [&](const auto& c) {
                               return c.name == t.name && (!c.saved || c.meaning == Meaning::output);
                           });
        r.tensors.push_back({t.name, t.role, t.meaning, extra, t.bytes(), gpu.traffic(id++)});
        if (extra) r.hbm_extra += t.bytes();
        if (t.role == Role::output && t.data) r.outputs[t.name] = unpacked_output(t.data, e.problem);
    }
    r.launches = gpu.launches();
    r.sram_peak = gpu.peak(Space::sram);
    r.register_peak = gpu.peak(Space::registers);
    r.hbm_footprint = gpu.hbm_footprint();
    r.notes = gpu.notes();
    const double capability = text::to_number(e.gpu.compute_capability).value_or(8);
    if (e.problem.query_type() == Dtype::bf16 && capability < 8)
        r.notes.push_back(message("experiment.no_bf16", e.gpu.name));
    if (e.problem.rotated) r.notes.push_back(message("experiment.rotation", flops_of_rotation(unpacked(e.problem))));
    constexpr double first_with_float8 = 8.9;
    if (size_of(e.problem.query_type()) == 1 && capability < first_with_float8)
        r.notes.push_back(message("experiment.no_float8", e.gpu.name, name_of(e.problem.query_type())));
    if (const int bits = sum_bits(e.problem, e.gpu);
        bits > 0 && r.numeric && !e.problem.sum_bits && e.algorithm->supports.has(Feature::accumulator))
        r.notes.push_back(message("experiment.sum_bits", name_of(e.problem.query_type()), bits));
    return r;
}

/// Throws, after the program has run, where an output was never written.
void check_outputs(const Gpu& gpu, const Algorithm& algorithm, const std::vector<TensorDecl>& declared,
                   TensorId first) {
    TensorId id = first;
    for (const TensorDecl& t : declared) {
        const Traffic& moved = gpu.traffic(id++);
        if (t.role != Role::output || t.zeroed || moved.write + moved.reduce > 0) continue;
        const std::string who =
            (algorithm.lineage.file ? text::shown(algorithm.lineage.file) + ": " : "") + algorithm.name;
        throw RunError(message("experiment.stores_nothing", who, t.name));
    }
}

}  // namespace

void run_program(Gpu& gpu, const Algorithm& algorithm, const Problem& problem, const Tiling& tiling,
                 const Inputs& given_inputs) {
    if (const auto refusal = refuses(algorithm, problem))
        throw UsageError(message("experiment.lacks_feature", algorithm.name, name_of(refusal->feature)));
    Tensors tensors;
    const Inputs inputs = packed_inputs(given_inputs, problem);
    const std::vector<TensorDecl> declared = algorithm.tensors(problem, tiling);
    const auto before = static_cast<TensorId>(gpu.tensors().size());
    for (const TensorDecl& t : declared) {
        const auto given = inputs.find(std::string_view(t.name));
        TensorInfo info{t.name,
                        t.role,
                        t.dtype,
                        t.slices,
                        t.rows,
                        t.cols,
                        given != inputs.end() ? given->second : nullptr,
                        t.meaning,
                        problem.batch_heads() / t.slices};
        info.gradient_of = t.gradient_of;
        if (t.scale_of && problem.scales == Scaling::block) info.shared_by = rows_of_a_scale(problem, t.scale_of);
        info.only_read = t.role == Role::input;
        info.blank = t.role != Role::input && !t.zeroed && !info.data;
        if (t.zeroed && !info.data && gpu.mode().data) info.data = zeros(t);
        if (problem.pages) put_in_pages(info, t, declared, before, problem, gpu.mode().data);
        tensors.add(t.name, gpu.add(std::move(info)));
    }
    algorithm.run(gpu, tensors, problem, tiling);
    if (!gpu.mode().only_wanted) check_outputs(gpu, algorithm, declared, before);
}

std::shared_ptr<const Storage> Report::output() const {
    const auto found = outputs.find(experiment.algorithm->computes->output);
    return found == outputs.end() ? nullptr : found->second;
}

const OutputError* Report::error() const {
    const auto found = errors.find(experiment.algorithm->computes->output);
    return found == errors.end() ? nullptr : &found->second;
}

double arithmetic_intensity(const Counters& c) {
    return c.hbm() > 0 ? static_cast<double>(c.flops()) / static_cast<double>(c.hbm()) : 0;
}

namespace {

/// FLOPs that a computation needs, by the problem's sizes and mask alone.
double needed_flops(const Computation& computes, const Problem& p) {
    const Needs& needs = computes.needs;
    const Count a_pair = 2 * (needs.over_dim * p.dim + needs.over_dim_v * p.dim_v) + needs.other_flops;
    const Count pairs = p.packed * p.mask.pairs({0, p.queries()}, {0, p.seq_k}, p.diagonal());  // of a head
    return static_cast<double>(p.batch_heads()) * static_cast<double>(pairs) * static_cast<double>(a_pair);
}

}  // namespace

double Report::useful_flops() const {
    const double own = needed_flops(*experiment.algorithm->computes, experiment.problem);
    return forward ? own + needed_flops(*forward->computes, experiment.problem) : own;
}

std::optional<double> Report::useful_flops_per_s() const {
    return time ? std::optional(useful_flops() / time->us() * 1e6) : std::nullopt;
}

std::optional<double> Report::dram_intensity() const {
    const auto traffic = dram();
    if (!traffic || traffic->total() == 0) return std::nullopt;
    return static_cast<double>(counters.flops()) / static_cast<double>(traffic->total());
}

namespace {

Bytes bytes_of(const std::vector<TensorReport>& tensors, Role role) {
    Bytes sum = 0;
    for (const TensorReport& t : tensors) sum += t.role == role ? t.bytes : 0;
    return sum;
}

}  // namespace

Bytes Report::compulsory_read() const { return bytes_of(tensors, Role::input); }
Bytes Report::compulsory_written() const { return bytes_of(tensors, Role::output); }

std::optional<Idealised> Report::idealised() const {
    const auto counted = experiment.algorithm->paper.idealised;
    return counted && !forward ? counted(experiment.problem) : std::nullopt;
}

std::optional<DramTraffic> Report::dram() const { return time ? time->dram() : std::nullopt; }

std::optional<double> Report::l2_hit_rate() const {
    const auto traffic = dram();
    if (!traffic || counters.hbm_read == 0) return std::nullopt;
    return 1 - static_cast<double>(traffic->read) / static_cast<double>(counters.hbm_read);
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

Report with_outputs(const Report& counted, const Inputs& inputs, int threads, Control* control) {
    Report r = execute(counted.experiment, inputs, threads, control);
    r.time = counted.time, r.no_time = counted.no_time, r.unmodelled = counted.unmodelled;
    const Experiment& e = counted.experiment;
    for (std::string& note : about_saturated(e.problem, e.algorithm->tensors(e.problem, e.tiling), inputs))
        r.notes.push_back(std::move(note));
    for (const std::string& note : counted.notes)
        if (std::find(r.notes.begin(), r.notes.end(), note) == r.notes.end()) r.notes.push_back(note);
    return r;
}

Bytes memory_of(const Experiment& e) {
    Bytes sum = 0;
    for (const TensorDecl& t : e.algorithm->tensors(e.problem, e.tiling))
        sum += (t.in_pages ? rows_in_pool(e.problem) : t.slices * t.rows) * t.cols * size_of(t.dtype);
    return sum;
}

std::string beyond_hbm(const Experiment& e) {
    const Bytes needed = memory_of(e);
    if (needed <= e.gpu.hbm_bytes) return "";
    return message("experiment.beyond_hbm", e.algorithm->name, text::bytes(needed), e.gpu.name,
                   text::bytes(e.gpu.hbm_bytes));
}

void check_hbm(const Experiment& e) {
    if (const std::string why = beyond_hbm(e); !why.empty()) throw RunError(why);
}

double seconds_to_execute(const Report& counted, int threads) {
    const double used = threads > 0 ? threads : cores();
    const Counters& c = counted.counters;
    // Per core and second: 15 G matrix FLOPs, 0.3 G exponentials, 1 G of the rest, and the reference in double at
    // half that.
    return (3 * static_cast<double>(c.matmul_flops) / 15e9 + static_cast<double>(c.exps) / 3e8 +
            static_cast<double>(c.other_flops) / 1e9) /
           used;
}

}  // namespace tilescope::lab
