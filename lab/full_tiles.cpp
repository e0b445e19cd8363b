#include "lab/full_tiles.hpp"

#include <algorithm>

#include "core/machine/out_of_chip_memory.hpp"
#include "lab/published_tiles.hpp"
#include "lab/timing.hpp"

namespace tilescope::lab {
namespace {

bool is_for_few_rows(const Experiment& e) {
    return style_of(e) == Style::tensor_cores && e.tiling.br <= e.algorithm->short_tiles.rows;
}

/// One head that sees everything, and has a full tile of queries and of keys.
Problem large_enough(Problem p, const Tiling& tiling) {
    p.batch = p.heads = p.kv_heads = p.bias.group = 1;
    p.mask = {};
    p.seq_q = ceil_div(std::max(p.seq_q, tiling.br), p.packed) * p.packed;
    p.seq_k = std::max(p.seq_k, tiling.bc);
    return p;
}

}  // namespace

FullTiles full_tiles(const Experiment& e) {
    FullTiles full{e};
    if (e.gpu.compute_capability == "none" || is_for_few_rows(e)) return full;
    const Tiling released = published_tiles(*e.algorithm, e.problem, e.gpu).tiling;
    const Tiling cut = cut_to(e.problem, released);
    if (cut.br != e.tiling.br || cut.bc != e.tiling.bc || (cut.br == released.br && cut.bc == released.bc)) return full;
    Experiment whole = e;
    whole.tiling.br = released.br, whole.tiling.bc = released.bc;
    Experiment large = whole;
    large.problem = large_enough(e.problem, released);
    try {
        full.counted = count(large);
        full.experiment = whole;
    } catch (const OutOfChipMemory&) {  // no kernel has them here
    }
    return full;
}

}  // namespace tilescope::lab
