// What a tile program does to its scores, in a line each: nothing of it where the problem does not ask for it.
#pragma once

#include "algorithms/contract/problem.hpp"

namespace tilescope {

class Tensors;

/// Makes logits of the product scale Q K^T of tile (i, j) of a head: soft-cap, biases, ALiBi, mask, in this order
/// (FlashAttention's, src/flash_fwd_kernel.h at 0251105a, which has no bias tensor). Tiles of a bias come from HBM.
void finish_scores(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j,
                   Here here = Here::now());

/// The same in parts, for who needs the capped logits themselves, or has a launch for each: the soft-cap; biases and
/// ALiBi; these and the mask.
void cap_scores(Block& b, Tile& s, const Problem& p, Here here = Here::now());
void bias_scores(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j,
                 Here here = Here::now());
void finish_capped_scores(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j,
                          Here here = Here::now());

/// Dropout on tile (i, j) of P: what is dropped is 0, the rest is multiplied by 1 / (1 - p). After the row sums, which
/// are those of all of P, and before P V.
void drop_scores(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j,
                 Here here = Here::now());

/// The launch that draws a mask that is stored, a thread block for each tile, on line 1; none where it is drawn again.
void store_kept(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys);

}  // namespace tilescope
