#include "lab/model/full_tiles.hpp"

#include <algorithm>

#include "lab/model/mapping.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/model/style.hpp"

namespace tilescope::lab {
namespace {

constexpr Index least_rows = 16;  // of an mma

/// A problem of one head without a mask, with at least a full tile of queries and of keys.
Problem large_enough(Problem p, const Tiling& tiling) {
    p.batch = p.heads = p.kv_heads = p.bias.group = 1;
    p.mask = {};
    p.seq_q = ceil_div(std::max(p.seq_q, tiling.br), p.packed) * p.packed;
    p.seq_k = std::max(p.seq_k, tiling.bc);
    return p;
}

}  // namespace

Tiling kernel_tiles(const Experiment& e) {
    Tiling t = e.tiling;
    // A user's own program has no other kernel than the one that it describes.
    if (e.gpu.compute_capability == "none" || e.algorithm->lineage.file || is_for_few_rows(e)) return t;
    const Tiling released = published_tiling(*e.algorithm, e.problem, e.gpu, e.shares_tiles);
    if (t.br == e.problem.seq_q) t.br = std::max(t.br, released.br);
    if (t.bc == e.problem.seq_k) t.bc = std::max(t.bc, released.bc);
    if (t == e.tiling) return t;
    const auto has_room = [&] { return fits(*e.algorithm, large_enough(e.problem, t), t, e.gpu); };
    while (!has_room()) {
        if (t.br / 2 < std::max(least_rows, e.tiling.br)) return e.tiling;
        t.br /= 2;
    }
    return t;
}

FullTiles full_tiles(const Experiment& e) {
    FullTiles full{e};
    full.experiment.tiling = kernel_tiles(e);
    if (full.experiment.tiling == e.tiling) return full;
    Experiment large = full.experiment;
    large.problem = large_enough(e.problem, large.tiling);
    full.counted = count(large);
    return full;
}

}  // namespace tilescope::lab
