#include "device/validation.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "algorithms/contract/exact.hpp"
#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/scales.hpp"
#include "core/text/message.hpp"
#include "lab/model/timing.hpp"
#include "lab/model/verdict.hpp"
#include "lab/workload/packing.hpp"
#include "lab/workload/rounding.hpp"

namespace tilescope::device {
using namespace lab;
using text::message;
namespace {

constexpr double work_budget = 2e10;               // matrix FLOPs that the simulator computes for a case
constexpr double softmax_flops = 250;              // matrix FLOPs that take as long as an element of a softmax
constexpr double most_reference_elements = 1.3e8;  // 1 GB of double
constexpr Index fewest_rows = 128;

/// Calls f(values, ...) with one part of all tensors after another.
template <class F, class... Tensors>
void for_chunks(F&& f, const Storage& tensor, const Tensors&... others) {
    static constexpr Index chunk = 1 << 14;
    const auto part = [](const Storage& t, Index begin) {
        std::vector<float> values(static_cast<std::size_t>(std::min(chunk, t.size() - begin)));
        t.read(begin, values);
        return values;
    };
    for (Index begin = 0; begin < tensor.size(); begin += chunk) f(part(tensor, begin), part(others, begin)...);
}

Count count_not_finite(const Storage& t) {
    Count n = 0;
    for_chunks(
        [&](const std::vector<float>& x) {
            n += std::count_if(x.begin(), x.end(), [](float v) { return !std::isfinite(v); });
        },
        t);
    return n;
}

double largest(const Storage& t) {
    double m = 0;
    for_chunks(
        [&](const std::vector<float>& x) {
            for (const float v : x)
                if (std::isfinite(v)) m = std::max(m, std::abs(static_cast<double>(v)));
        },
        t);
    return m;
}

double greatest_difference(const Storage& a, const Storage& b) {
    double m = 0;
    for_chunks(
        [&](const std::vector<float>& x, const std::vector<float>& y) {
            for (std::size_t k = 0; k < x.size(); ++k) {
                if (x[k] == y[k] || (std::isnan(x[k]) && std::isnan(y[k]))) continue;
                const double d = std::abs(static_cast<double>(x[k]) - static_cast<double>(y[k]));
                m = std::max(m, std::isnan(d) ? std::numeric_limits<double>::infinity() : d);
            }
        },
        a, b);
    return m;
}

/// Whether a row's values depend on its place by more than its distance from the last row.
bool depends_on_place(const Problem& p) {
    return p.bias || p.alibi > 0 || p.dropout || p.mask.blocks() || p.corner == Corner::top_left;
}

bool is_scale(std::string_view tensor) {
    return tensor == scales_tensor("Q") || tensor == scales_tensor("K") || tensor == scales_tensor("V");
}

/// The message `id` about n outputs.
std::string of_outputs(const char* id, Count n) { return message(id, std::to_string(n), n); }

}  // namespace

const char* name_of(Status status) {
    constexpr const char* names[] = {"ok", "wrong", "out of device memory"};
    return names[static_cast<int>(status)];
}

std::string in_words(Status status) {
    constexpr const char* words[] = {"validation.ok", "validation.wrong", "validation.out_of_memory"};
    return message(words[static_cast<int>(status)]);
}

double CaseResult::tflops() const {
    return times ? static_cast<double>(counted.counters.matmul_flops) / times->warm / 1e9 : 0;
}

double CaseResult::gbs() const { return times ? static_cast<double>(counted.counters.hbm()) / times->warm / 1e6 : 0; }

std::vector<Index> spread_heads(Index n, Index most) {
    const Index k = std::min(n, most);
    std::vector<Index> heads;
    for (Index i = 0; i < k; ++i) heads.push_back(k > 1 ? i * (n - 1) / (k - 1) : 0);
    return heads;
}

Part part_to_check(const Computation& computation, const Problem& p) {
    const auto whole_heads = [&](Index most) {
        const bool groups = computation.reference_of_keys != nullptr;
        const Index size = groups ? p.heads / p.kv_heads : 1;
        Part part{{}, p.seq_q, {}};
        for (const Index leading : spread_heads(p.batch_heads() / size, std::max<Index>(1, most / size))) {
            for (Index k = 0; k < size; ++k) part.heads.push_back(leading * size + k);
            part.kv_heads.push_back(p.kv_slice({leading * size, 1}));
        }
        return part;
    };
    if (depends_on_place(p)) return whole_heads(p.batch_heads());  // however much work
    const bool attention = computation.features.has(Feature::head_dims);
    const double row_work =
        static_cast<double>(p.seq_k) * (attention ? 2 * static_cast<double>(p.dim + p.dim_v) : softmax_flops);
    const double rows =
        std::min(work_budget / row_work, most_reference_elements / static_cast<double>(attention ? p.dim_v : p.seq_k));
    const double heads = rows / static_cast<double>(p.seq_q);
    if (heads < 1 && !computation.reference_of_keys) {
        const Index most = std::clamp(static_cast<Index>(rows), std::min(fewest_rows, p.seq_q), p.seq_q);
        return {{0}, std::max<Index>(1, most / p.packed) * p.packed, {0}};
    }
    return whole_heads(static_cast<Index>(std::min(heads, static_cast<double>(p.batch_heads()))));
}

Problem problem_of(const Part& part, const Problem& whole) {
    Problem p = whole;
    if (depends_on_place(whole)) return p;
    p.batch = 1;
    p.heads = static_cast<Index>(part.heads.size());
    p.kv_heads = static_cast<Index>(part.kv_heads.size());
    p.seq_q = part.rows;
    return p;
}

std::shared_ptr<Storage> cut(const Storage& from, std::string_view name, const Part& part) {
    const auto is_among = [&](std::initializer_list<std::string> names) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    const bool of_keys = is_scale(name) || is_among({"K", "V", "dK", "dV", exact_name("K"), exact_name("V")});
    const std::vector<Index>& slices = of_keys ? part.kv_heads : part.heads;
    const Index rows = of_keys ? from.rows() : part.rows;
    auto to = std::make_shared<Storage>(from.dtype(), static_cast<Index>(slices.size()), rows, from.cols());
    const Bytes row = from.cols() * size_of(from.dtype());
    for (std::size_t k = 0; k < slices.size(); ++k)
        std::memcpy(to->data() + static_cast<Index>(k) * rows * row,
                    from.data() + ((slices[k] + 1) * from.rows() - rows) * row, static_cast<std::size_t>(rows * row));
    return to;
}

void add_counters(std::vector<CaseResult>& results, std::span<const NcuLaunch> launches) {
    const auto expected = [](const CaseResult& r) {
        return r.status == Status::out_of_memory ? std::size_t{0} : r.counted.launches.size();
    };
    std::size_t all = 0;
    for (const CaseResult& r : results) all += expected(r);
    if (all != launches.size())
        throw RunError(message("validation.other_launches", std::to_string(launches.size()), std::to_string(all)));
    for (CaseResult& r : results) {
        if (expected(r) > 0) r.measured = combine(launches.subspan(0, expected(r)));
        launches = launches.subspan(expected(r));
    }
}

std::string verdict(const Deviations& d, Dtype dtype) {
    const auto number = [](double x) {
        char text[32];
        std::snprintf(text, sizeof text, "%.2g", x);
        return std::string(text);
    };
    if (d.kernel.not_finite > d.simulator.not_finite) return of_outputs("validation.not_finite", d.kernel.not_finite);
    if (d.not_finite_unchecked > 0 && d.simulator.not_finite == 0)
        return of_outputs("validation.not_finite_unchecked", d.not_finite_unchecked);
    if (d.kernel.finite_instead > d.simulator.finite_instead)
        return of_outputs("validation.finite_instead", d.kernel.finite_instead);
    if (d.kernel.compared == 0) return message("validation.nothing_to_compare");
    if (d.other_difference > 1e-4) return message("validation.lse_off", number(d.other_difference));
    if (dtype != Dtype::f32) {
        const double times = size_of(dtype) == 1 ? 1.01 : 1.25;
        return d.kernel.rms > std::max(times * d.simulator.rms, 1e-6 * d.largest_of_all)
                   ? message("validation.rms_error", number(d.kernel.rms), number(d.simulator.rms))
                   : "";
    }
    const double allowed = std::max(1e-5 * d.largest_of_all, 4 * d.simulator.max_abs);
    return d.kernel.max_abs > allowed ? message("validation.error", number(d.kernel.max_abs), number(allowed)) : "";
}

Validator::Shared& Validator::shared_for(const KernelCase& c) {
    const Problem& p = c.problem;
    const Computation* computation = c.algorithm->computes;
    if (shared_ && shared_->computation == computation && shared_->problem == p) return *shared_;
    shared_.reset();
    const Part part = part_to_check(*computation, p);
    Shared s{computation, p, problem_of(part, p), part, settings_.inputs, {}, {}};
    // Packed or not, a query of a head has the same values.
    std::vector<TensorDecl> missing = c.algorithm->tensors(unpacked(p), c.tile());
    std::erase_if(missing, [&](const TensorDecl& t) { return s.inputs.contains(t.name); });
    s.inputs.merge(random_inputs(missing, settings_.seed, settings_.distribution, settings_.control));
    s.inputs = stored_inputs(unpacked(p), c.algorithm->tensors(unpacked(p), c.tile()), std::move(s.inputs));
    s.inputs = packed_inputs(s.inputs, p);
    return shared_.emplace(std::move(s));
}

void Validator::add_saved(const KernelCase& c, Shared& s) const {
    s.inputs = with_saved(*c.algorithm, s.problem, std::move(s.inputs), settings_.threads, settings_.control);
    if (s.checked == s.problem) {
        s.checked_inputs = s.inputs;
        return;
    }
    for (const auto& [name, tensor] : s.inputs) {
        if (s.checked_inputs.contains(name)) continue;
        const bool of_all_heads = is_scale(name) && s.problem.scales == Scaling::tensor;
        s.checked_inputs[name] = of_all_heads ? tensor : cut(*tensor, name, s.part);
    }
}

Deviations Validator::deviations(const KernelCase& c, Shared& s, const Outputs& outputs) {
    Gpu gpu(settings_.gpu, numeric_mode, settings_.threads, settings_.control);
    run_program(gpu, *c.algorithm, s.checked, c.tile(), s.checked_inputs);
    if (!s.reference)
        s.reference.emplace(*s.computation, s.checked, s.checked_inputs, settings_.threads, settings_.control);
    Deviations d;
    d.heads_checked = static_cast<Index>(s.part.heads.size());
    d.rows_checked = s.part.rows;
    std::vector<Deviations> defined;
    for (const TensorInfo& t : gpu.tensors()) {
        if (t.role != Role::output) continue;
        const Storage& whole = *outputs.at(t.name);
        const auto kernel = cut(whole, t.name, s.part);
        const double difference = greatest_difference(*kernel, *t.data);
        const auto error = s.reference->compare(t.name, *kernel);
        if (t.name == s.computation->output || (error && s.computation->reference_of_keys)) {
            Deviations& of = defined.emplace_back(d);
            of.output = t.name;
            of.largest_reference = s.reference->largest(t.name);
            of.kernel = *error;
            of.simulator = *s.reference->compare(t.name, *t.data);
            of.difference = difference;
            of.not_finite_unchecked = count_not_finite(whole) - count_not_finite(*kernel);
        } else {
            d.other_difference = std::max(d.other_difference, difference / std::max(1.0, largest(*t.data)));
        }
    }
    for (const Deviations& of : defined) d.largest_of_all = std::max(d.largest_of_all, of.largest_reference);
    for (Deviations& of : defined) of.largest_of_all = d.largest_of_all;
    const auto badness = [&](const Deviations& of) {
        const bool wrong = !verdict(of, s.problem.dtype).empty();
        return std::pair(wrong, of.largest_reference > 0 ? of.kernel.max_abs / of.largest_reference : 0);
    };
    Deviations worst = *std::ranges::max_element(defined, {}, badness);
    worst.other_difference = d.other_difference;
    return worst;
}

CaseResult Validator::run(const KernelCase& c) {
    outputs_.clear();
    CaseResult r;
    r.tested = c;
    r.counted = count_and_time(experiment_of(c, settings_.gpu), settings_.control);
    Shared& s = shared_for(c);
    add_saved(c, s);
    Outputs outputs;
    try {
        KernelRun kernel(c, s.inputs, Untouched::poisoned);
        kernel.launch();
        for (const TensorDecl& t : c.algorithm->tensors(c.problem, c.tile()))
            if (t.role == Role::output) outputs[t.name] = kernel.download(t.name);
        r.times = kernel.time(settings_.repeats, settings_.control);
    } catch (const OutOfDeviceMemory& e) {
        r.status = Status::out_of_memory;
        r.note = e.what();
        return r;
    }
    r.deviations = deviations(c, s, outputs);
    r.note = verdict(*r.deviations, c.problem.dtype);
    r.status = r.note.empty() ? Status::ok : Status::wrong;
    if (r.note.empty() && r.deviations->kernel.not_finite > 0)
        r.note = of_outputs("validation.not_finite_as_simulated", r.deviations->kernel.not_finite);
    for (const TensorDecl& t : s.computation->tensors(c.problem))
        if (t.role == Role::output) outputs_[t.name] = unpacked_output(outputs.at(t.name), c.problem);
    return r;
}

void Validator::launch(const KernelCase& c) try {
    Shared& s = shared_for(c);
    add_saved(c, s);
    KernelRun(c, s.inputs, Untouched::uninitialised).launch();
} catch (const OutOfDeviceMemory&) {
    return;  // run() reported it
}

}  // namespace tilescope::device
