#include "lab/model/published_tiles.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// What a rule was made for, where no released kernel fits: "for d = 256 and an A100", "without a bias". Empty where
/// a kernel fits.
std::string carried_from(const ReleasedKernel& r, const Problem& p, const GpuSpec& gpu) {
    std::vector<std::string> made_for;
    if (r.dim > 0 && std::max(p.dim, p.dim_v) > r.dim) made_for.push_back("d = " + std::to_string(r.dim));
    if (gpu.compute_capability != "none" && text::to_number(gpu.compute_capability).value_or(0) < r.compute_capability)
        made_for.push_back(message(r.on));
    const bool no_bias = p.uses(Feature::bias) && !r.takes_bias;
    if (made_for.empty()) return no_bias ? message("published_tiles.without_bias") : "";
    return message(no_bias ? "published_tiles.made_for_without_bias" : "published_tiles.made_for",
                   text::listed(made_for));
}

/// "FlashAttention-2's rule for d = 256, carried on"; empty where a released kernel fits.
std::string carried_on(const ReleasedKernel& r, const Problem& p, const GpuSpec& gpu) {
    const std::string from = carried_from(r, p, gpu);
    return from.empty() ? "" : message("published_tiles.carried_on", message(r.whose), from);
}

/// A tiling, and where it comes from: a released kernel, or a program of TileScope's, which messages name.
struct Origin {
    Tiling tiling;
    const ReleasedKernel* released = nullptr;
    const char *source = nullptr, *whose = nullptr;  // messages; nullptr beside a released kernel
};

Origin origin_of(const Algorithm& algorithm, const Problem& p, const GpuSpec& gpu, bool shared) {
    if (gpu.compute_capability == "none")
        return {{4, 4}, nullptr, "published_tiles.as_in_blackboard", "published_tiles.of_blackboard"};
    const Algorithm* usual = usual_of(*algorithm.computes);
    if (!usual) return {{32, 64}, nullptr, "published_tiles.as_in_own_softmax", "published_tiles.own"};
    if (p.query_type() == Dtype::f32)
        return {{64, 64}, nullptr, "published_tiles.as_in_own_f32", "published_tiles.own"};
    const KernelDescription& own = *algorithm.kernel;
    const bool has_tiles = own.released && own.released->tiles && (!shared || own.tiled.warp > 0 || own.complete);
    const ReleasedKernel* released = has_tiles ? own.released : usual->kernel->released;
    return {released->tiles(p, gpu), released};
}

}  // namespace

std::string PublishedTiles::name() const {
    return carried_on.empty() ? whose : message("published_tiles.rule_carried_on", whose);
}

const Algorithm* usual_of(const Computation& computation) {
    const auto& all = algorithms();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Algorithm& a) { return a.computes == &computation && a.kernel->usual; });
    return found == all.end() ? nullptr : &*found;
}

PublishedTiles published_tiles(const Algorithm& algorithm, const Problem& p, const GpuSpec& gpu, bool shared) {
    const Origin from = origin_of(algorithm, p, gpu, shared);
    if (!from.released) return {from.tiling, message(from.source), message(from.whose)};
    const ReleasedKernel& r = *from.released;
    const std::string rule = carried_on(r, p, gpu);
    if (!rule.empty()) return {from.tiling, message("published_tiles.by_rule", rule), message(r.whose), rule};
    return {from.tiling, message("published_tiles.as_in_kernel", message(r.whose), message(r.kernel), r.file),
            message(r.whose)};
}

Tiling published_tiling(const Algorithm& algorithm, const Problem& p, const GpuSpec& gpu, bool shared) {
    return origin_of(algorithm, p, gpu, shared).tiling;
}

PublishedTiles tiles_behind(const Experiment& e) {
    for (const Knob& k : e.algorithm->knobs)
        if (k.value == &Tiling::like && e.tiling.like > 0) {
            const Tiling tiling = e.algorithm->kernel->complete(e.problem, {.like = e.tiling.like}, e.gpu);
            return {tiling, message("published_tiles.as_like", k.text(e.tiling)), ""};
        }
    return published_tiles(*e.algorithm, e.problem, e.gpu);
}

std::string whose_tiles(const Experiment& e) {
    const PublishedTiles behind = tiles_behind(e);
    const Tiling cut = cut_to(e.problem, behind.tiling);
    const std::string tiles = behind.whose.empty() ? message("published_tiles.tiles", behind.source)
                                                   : message("published_tiles.tiles_of", behind.name());
    return e.tiling.br == cut.br && e.tiling.bc == cut.bc ? tiles : message("published_tiles.others", tiles);
}

std::string published_kernel(const ReleasedKernel& r, const Problem& p, const GpuSpec& gpu) {
    const std::string from = carried_from(r, p, gpu);
    return from.empty() ? message("published_tiles.kernel", message(r.whose), message(r.kernel))
                        : message("published_tiles.kernel_by_rule", message(r.whose), from);
}

}  // namespace tilescope::lab
