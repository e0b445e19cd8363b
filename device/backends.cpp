#include "device/backends.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "algorithms/contract/packed.hpp"
#include "algorithms/cuda/tables.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/workload/splits.hpp"

namespace tilescope::device {
namespace {

constexpr double most_work_ratio = 16;

constexpr Like efficient = {"memory_efficient", "backend.longer_waits"},
               unfused = {"standard", "backend.more_passes", "typed", "backend.longer_softmax"},
               unfused_f32 = {"standard", "backend.scores_in_f32", "math", "backend.no_tensor_cores"};
constexpr Like warpgroups = {.algorithm = "flash_v3", .named = "cudnn-9.19", .without = "backend.warpgroups"};
constexpr Like like_split = {nullptr, "backend.reads_as_split"}, in_parts = {"split_kv", "backend.keys_in_parts"};
constexpr Backend backends[] = {
    {"cudnn", "backend.cudnn", warpgroups, like_split, warpgroups},
    {"flash", "backend.flash", {"flash_v2"}, in_parts, in_parts},
    {"efficient", "backend.efficient", efficient, efficient, efficient},
    {"by_hand", "backend.by_hand", unfused, unfused, unfused},
    {"math", "backend.math", unfused_f32, unfused_f32, unfused_f32},
};

const Backend* find_backend(std::string_view key) {
    const auto found = std::ranges::find_if(backends, [&](const Backend& b) { return key == b.key; });
    return found == std::end(backends) ? nullptr : &*found;
}

/// What scripts/backends wrote on a machine.
std::vector<MeasurementFile> files_of(std::string_view gpu) {
    for (const ShippedOn& machine : shipped_by_machine())
        if (machine.gpu == gpu) return machine.backends;
    return {};
}

/// Whether two sizes differ by a factor of at most 4.
bool near(Index a, Index b) { return a <= 4 * b && b <= 4 * a; }

bool alike(const Problem& asked, const Problem& measured) {
    return near(asked.seq_q, measured.seq_q) && near(asked.seq_k, measured.seq_k) && asked.dim == measured.dim &&
           asked.dim_v == measured.dim_v && asked.mask.is_causal() == measured.mask.is_causal() &&
           (asked.seq_q == 1) == (measured.seq_q == 1) && (asked.seq_q == asked.seq_k || !asked.mask.is_causal());
}

/// How far apart two problems are: 0 where nothing differs; a factor of e in a size counts 1.
double distance(const Problem& a, const Problem& b) {
    const auto apart = [](Index x, Index y) {
        return std::abs(std::log(static_cast<double>(x) / static_cast<double>(y)));
    };
    const bool grouped_alike = a.heads / a.kv_heads == b.heads / b.kv_heads;
    return apart(a.batch_heads(), b.batch_heads()) + apart(a.seq_q, b.seq_q) + apart(a.seq_k, b.seq_k) +
           (grouped_alike ? 0 : 0.5) + (a.heads == b.heads ? 0 : 0.01);
}

/// Whether the problem asks for something that no file of scripts/backends has: other masks, changed scores, pages, f32
/// anywhere, 8 bits, or a mask from the top left.
bool has_no_like(const Problem& p) {
    return !scores_are_plain(p) || p.pages || p.dtype == Dtype::f32 || p.uses(Feature::score_types) ||
           p.uses(Feature::passes) || p.uses(Feature::eight_bits) || p.corner == Corner::top_left;
}

}  // namespace

bool same_shape(const Problem& a, const Problem& b) {
    const auto sizes = [](const Problem& p) {
        return std::tuple(p.dtype, p.batch_heads(), p.heads / p.kv_heads, p.seq_q, p.seq_k, p.dim, p.dim_v,
                          p.mask.is_causal());
    };
    return sizes(a) == sizes(b);
}

double work_ratio(const Problem& a, const Problem& b) {
    const auto work = [](const Problem& p) {
        return static_cast<double>(p.batch_heads()) * static_cast<double>(p.seq_q) * static_cast<double>(p.seq_k) *
               static_cast<double>(p.dim + p.dim_v);
    };
    return work(a) / work(b);
}

std::optional<BackendTimes> backend_times(const Problem& problem, std::string_view gpu) {
    const Problem asked = unpacked(problem);
    if (has_no_like(asked)) return std::nullopt;
    std::optional<BackendTimes> best;
    for (const MeasurementFile& file : files_of(gpu))
        for (const MeasuredRow& row : file.rows) {
            const Problem p = problem_of(row);
            const double ratio = work_ratio(p, asked);
            if (!alike(asked, p) || ratio > most_work_ratio || ratio < 1 / most_work_ratio) continue;
            if (best && p != best->problem && distance(asked, p) >= distance(asked, best->problem)) continue;
            if (!best || p != best->problem)
                best = {file.told("device"), file.told("library"), file.told("date"), p, nullptr, {}};
            if (row["kernel"] == "default")
                best->chosen = find_backend(row["runs"]);
            else if (const Backend* b = find_backend(row["kernel"]))
                best->times.push_back({b, row.number("us").value()});
        }
    if (!best) return best;
    std::ranges::sort(best->times, {}, &BackendTime::us);
    best->splits_keys = lab::splits_by(lab::SplitRule::fa2, best->problem, lab::gpu_preset(std::string(gpu))) > 1;
    return best;
}

std::vector<std::string> measured_gpus() {
    std::vector<std::string> names;
    for (const ShippedOn& machine : shipped_by_machine())
        if (!machine.backends.empty()) names.emplace_back(machine.gpu);
    return names;
}

std::vector<Index> measured_dims(std::string_view gpu) {
    std::set<Index> dims;
    for (const MeasurementFile& file : files_of(gpu))
        for (const MeasuredRow& row : file.rows) dims.insert(row.integer("dim"));
    return {dims.begin(), dims.end()};
}

}  // namespace tilescope::device
