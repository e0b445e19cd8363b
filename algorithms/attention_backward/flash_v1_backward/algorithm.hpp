// FlashAttention's backward pass: a thread block per head of K and V, with key blocks in the outer loop. dQ_i is read
// and written for each key block.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/tile_sums.hpp"

namespace tilescope::flash_v1_backward {

// Line numbers are those of the paper's Algorithm 4.
inline constexpr CodeLine code[] = {
    {2, "set Bc, Br"},
    {3, "divide Q into Tr blocks, K and V into Tc blocks"},
    {4, "divide O, dO, l, m into Tr blocks"},
    {5, "write dQ = 0, dK = 0, dV = 0 to HBM"},
    {6, "for j = 1..Tc (in one thread block, with every head that shares K and V)"},
    {7, "  read K_j, V_j from HBM"},
    {8, "  on chip: dK~_j = 0, dV~_j = 0"},
    {9, "  for i = 1..Tr"},
    {10, "    read Q_i, O_i, dO_i, dQ_i, l_i, m_i from HBM"},
    {11, "    S = scale Q_i K_j^T", ""},
    {12, "    S_ij = -inf where the mask hides it"},
    {13, "    P = exp(S - m_i) / l_i"},
    {14, "    Z_ij: what dropout keeps, times 1 / (1 - p)"},
    {15, "    P~ = P * Z_ij"},
    {16, "    dV~_j += P~^T dO_i", ""},
    {17, "    dP~ = dO_i V_j^T", ""},
    {18, "    dP = dP~ * Z_ij"},
    {19, "    D_i = rowsum(dO_i * O_i)"},
    {20, "    dS = P * (dP - D_i)"},
    {21, "    write dQ_i + scale dS K_j to HBM"},
    {22, "    dK~_j += scale dS^T Q_i", ""},
    {23, "  end for"},
    {24, "  write dK~_j, dV~_j to HBM", ""},
    {25, "end for"},
    {26, "return dQ, dK, dV", ""},
};

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

/// l and m of each row are inputs in place of the LSE.
inline std::vector<TensorDecl> tensors(const Problem& p, const Tiling&) {
    auto t = computation::attention_backward.tensors(p);
    std::erase_if(t, [](const TensorDecl& each) { return each.meaning == Meaning::statistic; });
    for (const char* name : {"l", "m"}) {
        t.push_back(declare(p, name, Role::input, Meaning::statistic, Sliced::by_head, p.seq_q, 1, Dtype::f32));
        t.back().saved = true;
    }
    return t;
}

inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const auto s = tile_sums(p, tile);
    const Index d = p.dim, dv = p.dim_v, e = size_of(p.dtype), f = size_of(Dtype::f32), U = s.row_visits, E = s.scores;
    const Prediction of_head = {e * U * (2 * d + 2 * dv) + f * 2 * U, e * (p.seq_q + U) * d, 2 * E * (3 * d + 2 * dv),
                                E, 4 * E + U * (2 * dv - 1)};
    const Prediction of_kv_head = {e * s.keys_active * (d + dv), e * (p.seq_k + s.keys_active) * (d + dv)};
    return (of_head + of_finishing_gradients(p, s)).times(p.batch_heads()) + of_kv_head.times(p.kv_slices());
}

/// Dao-AILab/flash-attention at 8a2ece89. In fmha_dgrad_kernel_1xN_loop.h, each warp exchanges its part of dQ_i in f32.
inline constexpr ReleasedKernel released = {.whose = "library.flash_attention_1",
                                            .kernel = "kernel.backward",
                                            .file = "fmha_bwd_hdim*.cu",
                                            .dim = 128,
                                            .compute_capability = 7.5,
                                            .warps = [](const Problem&, Index) -> Index { return 8; },
                                            .split = WarpSplit::keys,
                                            .exchanged = [](const Problem& p, const Tiling& t, Index warps) -> Bytes {
                                                return warps > 1 ? warps * t.br * p.dim * size_of(Dtype::f32) : 0;
                                            }};

inline constexpr KernelDescription kernel_description = {.on_cuda_cores = StatedError{0.27, 0.32},
                                                         .released = &released};

inline Algorithm describe() {
    return {.name = "flash_v1_backward",
            .lineage = {.rung = 2, .forward = "flash_v1"},
            .computes = &computation::attention_backward,
            .supports = attention_features.with(Feature::dropout),
            .paper = {.title = "FlashAttention, backward", .source = "FlashAttention, arXiv 2205.14135, Algorithm 4"},
            .code = code,
            .tensors = tensors,
            .run = run,
            .predict = predict,
            .kernel = &kernel_description};
}

}  // namespace tilescope::flash_v1_backward
