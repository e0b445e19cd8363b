#include "lab/model/published_tiles.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
namespace {

/// What a rule was made for, where no released kernel fits: " for d = 256 and an A100", " without a bias". Empty: a
/// kernel fits.
std::string carried_from(const ReleasedKernel& r, const Problem& p, const GpuSpec& gpu) {
    std::vector<std::string> made_for;
    if (r.dim > 0 && std::max(p.dim, p.dim_v) > r.dim) made_for.push_back("d = " + std::to_string(r.dim));
    if (gpu.compute_capability != "none" && text::to_number(gpu.compute_capability).value_or(0) < r.compute_capability)
        made_for.emplace_back(r.on);
    return (made_for.empty() ? "" : " for " + text::listed(made_for)) +
           (p.uses(Feature::bias) && !r.takes_bias ? " without a bias" : "");
}

/// "FlashAttention-2's rule for d = 256, carried on"; empty where a released kernel fits.
std::string carried_on(const ReleasedKernel& r, const Problem& p, const GpuSpec& gpu) {
    const std::string from = carried_from(r, p, gpu);
    return from.empty() ? "" : r.whose + (" rule" + from) + ", carried on";
}

PublishedTiles tiles_of(const ReleasedKernel& r, const Problem& p, const GpuSpec& gpu) {
    const Tiling tiling = r.tiles(p, gpu);
    const std::string rule = carried_on(r, p, gpu);
    if (!rule.empty()) return {tiling, "by " + rule, r.whose, rule};
    return {tiling, std::string("as in ") + r.whose + ' ' + r.kernel + " (" + r.file + ')', r.whose};
}

}  // namespace

const Algorithm* usual_of(const Computation& computation) {
    const auto& all = algorithms();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Algorithm& a) { return a.computes == &computation && a.kernel->usual; });
    return found == all.end() ? nullptr : &*found;
}

PublishedTiles published_tiles(const Algorithm& algorithm, const Problem& p, const GpuSpec& gpu, bool shared) {
    if (gpu.compute_capability == "none") return {{4, 4}, "as in what the blackboard has room for", "the blackboard's"};
    const Algorithm* usual = usual_of(*algorithm.computes);
    if (!usual) return {{32, 64}, "as in TileScope's own softmax kernels", "TileScope's"};
    if (p.dtype == Dtype::f32) return {{64, 64}, "as in TileScope's own f32 kernels", "TileScope's"};
    const KernelDescription& own = *algorithm.kernel;
    const bool has_tiles = own.released && own.released->tiles && (!shared || own.tiled.warp > 0);
    return tiles_of(has_tiles ? *own.released : *usual->kernel->released, p, gpu);
}

std::string published_kernel(const ReleasedKernel& r, const Problem& p, const GpuSpec& gpu) {
    const std::string from = carried_from(r, p, gpu);
    return from.empty() ? std::string(r.whose) + ' ' + r.kernel : "A kernel by " + (r.whose + (" rule" + from));
}

}  // namespace tilescope::lab
