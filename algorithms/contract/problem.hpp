// The workload and the mapping: what is to be computed, and in which tiles.
#pragma once

#include <optional>

#include "algorithms/contract/bias.hpp"
#include "algorithms/contract/features.hpp"
#include "algorithms/contract/mask.hpp"
#include "algorithms/contract/paging.hpp"
#include "algorithms/contract/passes.hpp"
#include "core/machine/grid.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

/// Which softmax is taken between the two products: the textbook formula, or with the maximum subtracted first.
enum class Softmax : std::uint8_t { naive, safe };

/// How many values of 8 bits share a scale: all of a tensor, those of a head of K and V (of Q: of the heads that share
/// it), or those of some rows (Problem::scale_block) of that; or none has one, and values are stored as they are.
enum class Scaling : std::uint8_t { none, tensor, head, block };

/// An attention layer, or (for the softmax kernels) batch x heads matrices of seq_q rows and seq_k columns.
struct Problem {
    Index batch = 1, heads = 8, kv_heads = 8, seq_q = 1024, seq_k = 1024;
    Index dim = 64, dim_v = 64;              ///< of Q and K, of V and O
    Dtype dtype = Dtype::f16;                ///< storage of Q, K and V; accumulation and row statistics are f32
    std::optional<Dtype> q_dtype, kv_dtype;  ///< of Q, and of K and V, where it is another one
    Scaling scales = Scaling::head;          ///< of values of 8 bits; `rotated`: Q and K are, before they are rounded
    bool rotated = false;
    Index scale_block = 1;                  ///< queries, or keys, that share a scale, where blocks of them do
    Mask mask;                              ///< which keys a query sees
    Corner corner = Corner::bottom_right;   ///< which corner of S the mask's diagonal runs through
    std::optional<double> scale, soft_cap;  ///< s = scale q k (scale: 1/sqrt(dim) unless given); then cap tanh(s / cap)
    Softmax softmax = Softmax::safe;
    Paging pages;          ///< of K and V
    Index packed = 1;      ///< query heads packed into one, the rows of a query one below the other: see packed.hpp
    Bias bias;             ///< added to the logits
    Index alibi = 0;       ///< adds -slope |distance of query and key|, with the slopes of this many heads; 0: no ALiBi
    Dropout dropout;       ///< of the softmax's weights
    Index p_scale = 1;     ///< P is multiplied by this power of two before it is rounded; O and the LSE are without it
    double stale_max = 0;  ///< a row's maximum stays until it would grow by more than so many powers of two
    std::optional<Index>
        sum_bits;  ///< of sums of 8-bit products (accumulator.hpp); 0: f32; absent: as the GPU has them
    std::optional<Dtype> scores, weights;  ///< types of S and P in HBM, f32 or O's; absent: O's for S, S's for P
    PassList passes;                       ///< the launches of an unfused graph; empty: those of the algorithm

    friend bool operator==(const Problem&, const Problem&) = default;
    Index batch_heads() const { return batch * heads; }
    Index kv_slices() const { return batch * kv_heads; }
    /// The K and V slice that a query head (a span of one batch x head) reads: heads / kv_heads heads share one.
    Index kv_slice(Span head) const { return head.begin / (heads / kv_heads); }
    float logit_scale() const;
    Dtype query_type() const { return q_dtype.value_or(dtype); }
    Dtype key_type() const { return kv_dtype.value_or(dtype); }  ///< of K and V
    /// The type of O and of what is added to logits: Q's; bf16 beside a Q of 8 bits (FlashAttention-3's choice).
    Dtype output_type() const { return size_of(query_type()) == 1 ? Dtype::bf16 : query_type(); }
    Dtype score_type() const, weight_type() const;                                     ///< of S and P
    bool scaled(Dtype t) const { return scales != Scaling::none && size_of(t) == 1; }  ///< tensors of this type
    bool uses(Feature feature) const;  ///< whether an algorithm has to support it
    Index queries() const { return seq_q / packed; }
    /// The queries that these rows belong to.
    Span queries(Span rows) const { return {rows.begin / packed, ceil_div(rows.end(), packed) - rows.begin / packed}; }
    /// The query of each row, counted from queries(rows).begin on.
    Stairs stairs(Span rows) const { return {packed, rows.begin % packed}; }
    Index diagonal() const { return corner == Corner::top_left ? 0 : seq_k - queries(); }  ///< the key of query 0
    bool sees(Index row, Index key) const { return mask.sees(row / packed, key, diagonal()); }
    Cover cover(Span rows, Span keys) const { return mask.cover(queries(rows), keys, diagonal()); }
    /// The key tiles in which at least one of these query rows sees a key: all of them without a mask.
    Tiles visible_keys(Tiles keys, Span rows) const { return visible(keys)(rows); }
    /// The query tiles in which at least one row sees a key of this tile; not for packed heads.
    Tiles seeing_rows(Tiles rows, Span keys) const { return seeing(rows)(keys); }
    /// visible_keys() and seeing_rows() as functions of any tile, from which grid axes take their costs.
    Seen visible(Tiles keys) const { return mask.visible(keys, diagonal()).by_rows(packed); }
    Seen seeing(Tiles rows) const { return mask.seeing(rows, diagonal()); }
    /// Grid axes: one block per head of every batch entry; one per query tile, at the cost of the key tiles it sees.
    Axis head_axis() const { return uniform(batch_heads(), "head"); }
    Axis row_axis(Tiles rows, Tiles keys) const { return graded(rows, visible(keys)); }
};

/// Rows (queries) and columns (keys) of a tile or a chunk; parts of the keys; roles of warps (roles.hpp). A choice by
/// name is its number among the names of the Knob, from 1. 0: left open, or not a knob of the program.
struct Tiling {
    Index br = 0, bc = 0, splits = 0;
    Index slots = 0, warpgroups = 0, turns = 0, overlap = 0, specialised = 0, cluster = 0, persistent = 0, like = 0;
    friend bool operator==(const Tiling&, const Tiling&) = default;
};

/// Sets the logits of tile (i, j) that the mask hides to -inf.
inline void apply_mask(Block& b, Tile& s, const Problem& p, Span i, Span j, Here here = Here::now()) {
    p.mask.apply(b, s, i, j, p.diagonal(), p.packed, here);
}

}  // namespace tilescope
