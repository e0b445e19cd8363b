// The gradients in two passes over the tiles: dK and dV by key blocks, dQ by row blocks. Each pass recomputes P.
#pragma once

#include "algorithms/attention_backward/steps.hpp"
#include "algorithms/contract/kernel_description.hpp"

namespace tilescope::two_pass_backward {

inline constexpr CodeLine code[] = {
    {1, "launch 1: for each row block i: read O_i, dO_i from HBM; write D_i = rowsum(dO_i * O_i)"},
    {2, "launch 2: for each key block j (parallel thread blocks)"},
    {3, "  read K_j, V_j from HBM; dK_j = 0, dV_j = 0"},
    {4, "  for i = 1..Tr: read Q_i, dO_i, LSE_i, D_i"},
    {5, "    P = exp(scale Q_i K_j^T - LSE_i)"},
    {6, "    dV_j += P^T dO_i", ""},
    {7, "    dP = dO_i V_j^T; dS = P * (dP - D_i)"},
    {8, "    dK_j += scale dS^T Q_i", ""},
    {9, "  write dK_j, dV_j"},
    {10, "launch 3: for each row block i (parallel thread blocks)"},
    {11, "  read Q_i, dO_i, LSE_i, D_i; dQ_i = 0"},
    {12, "  for j = 1..Tc: read K_j, V_j", ""},
    {13, "    P = exp(scale Q_i K_j^T - LSE_i)"},
    {14, "    dP = dO_i V_j^T; dS = P * (dP - D_i)", ""},
    {15, "    dQ_i += scale dS K_j"},
    {16, "  write dQ_i", ""},
};

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const auto s = tile_sums(p, tile);
    const Index d = p.dim, dv = p.dim_v, e = size_of(p.dtype), f = size_of(Dtype::f32), E = s.scores;
    const Prediction of_row_blocks = {e * (s.rows_active + s.keys_streamed) * (d + dv) + f * 2 * s.rows_active,
                                      e * p.seq_q * d, 2 * E * (2 * d + dv), E, 3 * E};
    return (backward::of_products(p) + of_row_blocks).times(p.batch_heads()) + backward::of_key_blocks(p, s);
}

inline constexpr KernelDescription kernel_description = {.on_cuda_cores = StatedError{0.07, 0.18}};

inline Algorithm describe() {
    return {.name = "two_pass_backward",
            .lineage = {.rung = 6, .forward = "flash_v2"},
            .computes = &computation::attention_backward,
            .supports = attention_features,
            .paper = {.title = "2-pass backward", .source = "Triton tutorial 06, _attn_bwd_dkdv and _attn_bwd_dq"},
            .code = code,
            .tensors = [](const Problem& p, const Tiling&) { return backward::tensors_with_products(p); },
            .run = run,
            .predict = predict,
            .kernel = &kernel_description};
}

}  // namespace tilescope::two_pass_backward
