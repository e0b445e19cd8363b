// What a tile program does to its scores, one call each. A call does nothing where the problem does not ask for it.
#pragma once

#include "algorithms/contract/problem.hpp"

namespace tilescope {

class Tensors;

/// Turns scale Q K^T of tile (i, j) of a head into logits: soft-cap, biases, ALiBi, mask, in this order
/// (FlashAttention's, src/flash_fwd_kernel.h at 0251105a, which has no bias tensor). Loads tiles of a bias from HBM.
void finish_scores(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j,
                   Here here = Here::now());

/// finish_scores() in parts, for programs that need the capped logits or launch each part: the soft-cap; biases and
/// ALiBi; biases, ALiBi and mask.
void cap_scores(Block& b, Tile& s, const Problem& p, Here here = Here::now());
void bias_scores(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j,
                 Here here = Here::now());
void finish_capped_scores(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j,
                          Here here = Here::now());

/// Dropout on tile (i, j) of P: dropped weights become 0, the others are multiplied by 1 / (1 - p). To be called after
/// the row sums, which are of all of P, and before P V.
void drop_scores(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j,
                 Here here = Here::now());

/// Launches the drawing of a stored dropout mask, a thread block per tile, on line 1; nothing where none is stored.
void store_kept(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys);

}  // namespace tilescope
