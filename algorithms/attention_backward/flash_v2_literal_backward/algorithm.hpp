// FlashAttention-2's backward pass as the paper prints it: key blocks in parallel. Each reads dQ_i from HBM, adds to it
// and writes it back.
#pragma once

#include "algorithms/attention_backward/steps.hpp"
#include "core/machine/gpu_spec.hpp"

namespace tilescope::flash_v2_literal_backward {

// Line numbers are those of the paper's Algorithm 2. Lines 11 and 14 are part of lines 10 and 13 here.
inline constexpr CodeLine code[] = {
    {1, "divide Q into Tr blocks, K and V into Tc blocks"},
    {2, "divide O, dO, LSE into Tr blocks"},
    {3, "write dQ = 0 to HBM"},
    {4, "read O, dO from HBM; write D = rowsum(dO * O)"},
    {5, "for j = 1..Tc (parallel thread blocks)"},
    {6, "  read K_j, V_j from HBM"},
    {7, "  on chip: dK_j = 0, dV_j = 0", ""},
    {8, "  for i = 1..Tr"},
    {9, "    read Q_i, dO_i, LSE_i, D_i from HBM"},
    {10, "    S = scale Q_i K_j^T; P = exp(S - LSE_i)"},
    {12, "    dV_j += P^T dO_i", ""},
    {13, "    dP = dO_i V_j^T; dS = P * (dP - D_i)"},
    {15, "    read dQ_i from HBM; write dQ_i + scale dS K_j"},
    {16, "    dK_j += scale dS^T Q_i", ""},
    {17, "  end for"},
    {18, "  write dK_j, dV_j to HBM"},
    {19, "end for"},
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
            .lineage = {.rung = 3, .forward = "flash_v2"},
            .computes = &computation::attention_backward,
            .supports = attention_features,
            .paper = {.title = "FlashAttention-2's Algorithm 2",
                      .source = "FlashAttention-2, arXiv 2307.08691, Algorithm 2, to the letter"},
            .code = code,
            .tensors = [](const Problem& p, const Tiling&) { return backward::tensors_with_products(p); },
            .run = run,
            .predict = predict};
}

}  // namespace tilescope::flash_v2_literal_backward
