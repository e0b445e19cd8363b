// FlashAttention-2's backward pass as the paper prints it: key blocks in parallel. Each reads dQ_i from HBM, adds to it
// and writes it back.
#pragma once

#include "algorithms/attention_backward/steps.hpp"
#include "core/machine/gpu_spec.hpp"

namespace tilescope::flash_v2_literal_backward {

// Line numbers are those of the paper's Algorithm 2. Lines 11 and 14 are part of lines 10 and 13 here.
inline constexpr CodeLine code[] = {
    {1, "divide Q into Tr blocks, K and V into Tc blocks", "Nothing moves yet."},
    {2, "divide O, dO, LSE into Tr blocks", "Nothing moves yet."},
    {3, "write dQ = 0 to HBM", "It grows there, in the storage type."},
    {4, "read O, dO from HBM; write D = rowsum(dO * O)", "Once, before all else: a launch of its own."},
    {5, "for j = 1..Tc (parallel thread blocks)", "dK_j and dV_j are sums over rows."},
    {6, "  read K_j, V_j from HBM", "They stay on chip while rows stream past."},
    {7, "  on chip: dK_j = 0, dV_j = 0", ""},
    {8, "  for i = 1..Tr", "Row blocks that see key block j, of every head that shares K and V."},
    {9, "    read Q_i, dO_i, LSE_i, D_i from HBM",
     "The paper lists O_i and dQ_i as well, which nothing needs before line 15."},
    {10, "    S = scale Q_i K_j^T; P = exp(S - LSE_i)", "The softmax at once: the forward pass saved its LSE."},
    {12, "    dV_j += P^T dO_i", ""},
    {13, "    dP = dO_i V_j^T; dS = P * (dP - D_i)", "The gradient of the softmax, row by row."},
    {15, "    read dQ_i from HBM; write dQ_i + scale dS K_j",
     "Other thread blocks do so at the same time: somebody has to let in one after the other."},
    {16, "    dK_j += scale dS^T Q_i", ""},
    {17, "  end for", "Next row block."},
    {18, "  write dK_j, dV_j to HBM", "Once, by the only thread block that has them."},
    {19, "end for", "Next key block."},
    {20, "return dQ, dK, dV", ""},
};

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const auto s = tile_sums(p, tile);
    const Index d = p.dim, e = size_of(p.dtype);
    const Prediction of_queries = {e * s.row_visits * d, e * (p.seq_q + s.row_visits) * d, 2 * s.scores * d};
    return (backward::of_products(p) + of_queries).times(p.batch_heads()) + backward::of_key_blocks(p, s);
}

inline Algorithm describe() {
    return {.name = "flash_v2_literal_backward",
            .title = "FlashAttention-2's Algorithm 2",
            .computes = &computation::attention_backward,
            .supports = attention_features,
            .rung = 3,
            .idea = "key blocks in parallel, P from the LSE, D once; dQ is read and written at every visit",
            .paper = "FlashAttention-2, arXiv 2307.08691, Algorithm 2, to the letter",
            .code = code,
            .tensors = [](const Problem& p, const Tiling&) { return backward::tensors_with_products(p); },
            .run = run,
            .predict = predict,
            .forward = "flash_v2"};
}

}  // namespace tilescope::flash_v2_literal_backward
