// The sums over tiles in which the closed forms are written (per head, in elements). They follow from the sizes alone
// and share no code with the tile programs that they check.
#pragma once

#include "algorithms/contract/algorithm.hpp"

namespace tilescope {

struct TileSums {
    Index row_blocks = 0;     ///< Tr
    Index key_blocks = 0;     ///< Tc
    Index row_visits = 0;     ///< U: rows of Q, summed over active tiles
    Index keys_streamed = 0;  ///< Kt: rows of K that the row blocks stream, summed over row blocks
    Index keys_active = 0;    ///< Ka: rows of K in column blocks that any row sees
    Index rows_active = 0;    ///< Ra: rows of Q in row blocks that see any key
    Index scores = 0;         ///< E: elements of S computed, in whole tiles
};

/// With `skip`, tiles in which the mask hides everything are not visited.
TileSums tile_sums(const Problem& problem, const Tiling& tiling, bool skip = true);

/// Bytes of an element of Q, of K and V, and of O.
struct ElementBytes {
    Bytes q, kv, o;
};
ElementBytes element_bytes(const Problem& problem);

/// What a scale of P and stale maxima take of a head: a number a row that P is relative to, and a look at each maximum.
Prediction of_weight_range(const Problem& problem, const TileSums& sums);
/// How a head's program meets scales. Those of blocks of rows: by_rows, a row block takes its own once, and those of K
/// and V with every tile that it visits; by_keys, the other way round; by_tiles, every tile of S takes them all, also
/// where the mask hides it.
enum class ScaleLoop : std::uint8_t { by_rows, by_keys, by_tiles };
struct ScaleVisits {
    Index blocks = 0;  ///< thread blocks, each of which takes the scales of a tensor or a head
    ScaleLoop loop = ScaleLoop::by_rows;
    Index times = 1;  ///< how often a tile computes S, and takes the scales of K for it
    Index blocks_of_a_part =
        0;  ///< where a row block has a thread block for each part that it sees: as in part_visits()
};
/// What a head's program reads of the scales of Q and K, and multiplies by them; the same of those of V; and both.
Prediction of_score_scales(const Problem& problem, const Tiling& tiling, const ScaleVisits& visits);
Prediction of_value_scales(const Problem& problem, const Tiling& tiling, const ScaleVisits& visits);
inline Prediction of_scales(const Problem& problem, const Tiling& tiling, const ScaleVisits& visits) {
    return of_score_scales(problem, tiling, visits) + of_value_scales(problem, tiling, visits);
}

/// What biases, ALiBi and soft-cap add to a head's counts if it computes these scores `times` times; and what dropout
/// adds.
Prediction of_finishing(const Problem& problem, const TileSums& sums, Index times = 1);
Prediction of_dropping(const Problem& problem, const TileSums& sums);
/// What both add to a backward pass that recomputes S: the same on S, the soft-cap's slope, dropout of P and of dP.
Prediction of_finishing_gradients(const Problem& problem, const TileSums& sums);

/// Entries of the page table that a head's row blocks read: for each active tile the pages that it touches, once for K
/// and V together. 0 without pages.
Index page_entries(const Problem& problem, const Tiling& tiling);

/// The parts of which a row block sees any key, summed over row blocks: once for each row of Q (QA), and once for each
/// block. A part has p = `blocks_of_a_part` key blocks; blocks jl .. jh-1 lie in ceil(jh/p) - floor(jl/p) parts.
struct PartVisits {
    Index rows = 0, blocks = 0;
};
PartVisits part_visits(const Problem& problem, const Tiling& tiling, Index blocks_of_a_part);

}  // namespace tilescope
