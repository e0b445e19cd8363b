// FlashAttention-2's backward pass as it was released: one pass over the tiles, with a thread block per key block. The
// thread blocks add their parts of dQ in HBM.
#pragma once

#include "algorithms/attention_backward/flash_v2_backward/released.hpp"
#include "algorithms/attention_backward/steps.hpp"

namespace tilescope::flash_v2_backward {

inline constexpr CodeLine code[] = {
    {1, "launch 1: for each row block i: read O_i, dO_i from HBM; write D_i = rowsum(dO_i * O_i), dQ~_i = 0"},
    {2, "launch 2: for each key block j (parallel thread blocks)"},
    {3, "  read K_j, V_j from HBM; dK_j = 0, dV_j = 0"},
    {4, "  for i = 1..Tr: read Q_i, dO_i, LSE_i, D_i"},
    {5, "    P = exp(scale Q_i K_j^T - LSE_i)"},
    {6, "    dV_j += P^T dO_i", ""},
    {7, "    dP = dO_i V_j^T; dS = P * (dP - D_i)"},
    {8, "    add scale dS K_j to dQ~_i in HBM"},
    {9, "    dK_j += scale dS^T Q_i", ""},
    {10, "  write dK_j, dV_j"},
    {11, "launch 3: for each row block i: read dQ~_i; write dQ_i"},
};

/// The tensor in which key blocks sum dQ: dQ itself where it is f32, else dQ~.
inline const char* accumulator(const Problem& p) { return p.dtype == Dtype::f32 ? "dQ" : "dQ~"; }

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

inline std::vector<TensorDecl> tensors(const Problem& p, const Tiling&) {
    auto t = backward::tensors_with_products(p);
    if (p.dtype != Dtype::f32)
        t.push_back(declare_gradient(p, accumulator(p), Role::scratch, Meaning::query, Sliced::by_head, p.seq_q, p.dim,
                                     Dtype::f32));
    return t;
}

inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const auto s = tile_sums(p, tile);
    const Index Nq = p.seq_q, d = p.dim, f = size_of(Dtype::f32), e = size_of(p.dtype);
    Prediction of_queries = {
        .hbm_write = f * Nq * d, .matmul_flops = 2 * s.scores * d, .hbm_reduce = f * s.row_visits * d};
    if (p.dtype != Dtype::f32) of_queries = of_queries + Prediction{f * Nq * d, e * Nq * d};
    return (backward::of_products(p) + of_queries).times(p.batch_heads()) + backward::of_key_blocks(p, s);
}

inline constexpr KernelDescription kernel_description = {.keys_of_warp = 16,
                                                         .on_cuda_cores = StatedError{0.08, 0.23},
                                                         .on_tensor_cores = StatedError{0.08, 0.19},
                                                         .released = &released,
                                                         .usual = true};

inline Algorithm describe() {
    return {.name = "flash_v2_backward",
            .lineage = {.rung = 4, .forward = "flash_v2"},
            .computes = &computation::attention_backward,
            .supports = attention_features.with(Feature::alibi).with(Feature::soft_cap).with(Feature::dropout),
            .paper = {.title = "FlashAttention-2, backward",
                      .source = "FlashAttention-2, arXiv 2307.08691, Algorithm 2, as in flash_bwd_kernel.h"},
            .code = code,
            .tensors = tensors,
            .run = run,
            .predict = predict,
            .kernel = &kernel_description};
}

}  // namespace tilescope::flash_v2_backward
