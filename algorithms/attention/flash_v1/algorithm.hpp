// FlashAttention-1: key blocks in the outer loop. K_j and V_j stay on chip while Q, O, l and m go to HBM and back.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/tile_sums.hpp"

namespace tilescope::flash_v1 {

// Line numbers are those of the paper's Algorithm 1.
inline constexpr CodeLine code[] = {
    {1, "set Bc = ceil(M/4d), Br = min(ceil(M/4d), d)"},
    {2, "write O = 0, l = 0, m = -inf to HBM"},
    {3, "divide Q into Tr blocks, K and V into Tc blocks"},
    {4, "divide O, l, m into Tr blocks"},
    {5, "for j = 1..Tc (one thread block per head)"},
    {6, "  read K_j, V_j from HBM"},
    {7, "  for i = 1..Tr"},
    {8, "    read Q_i, O_i, l_i, m_i from HBM"},
    {9, "    S = scale Q_i K_j^T"},
    {10, "    m~ = rowmax(S), P~ = exp(S - m~), l~ = rowsum(P~)"},
    {11, "    m_new = max(m_i, m~), l_new = exp(m_i - m_new) l_i + exp(m~ - m_new) l~"},
    {12, "    write O_i = (l_i exp(m_i - m_new) O_i + exp(m~ - m_new) P~ V_j) / l_new"},
    {13, "    write l_i = l_new, m_i = m_new"},
    {14, "  end for"},
    {15, "end for"},
    {16, "return O"},
    {17, "before: read scales s of 8-bit values (of V_j: s / max s); products are times s", {}, Feature::eight_bits},
};

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

inline std::vector<TensorDecl> tensors(const Problem& p, const Tiling&) {
    auto t = computation::attention.tensors(p);
    t.push_back(declare(p, "l", Role::scratch, Meaning::statistic, Sliced::by_head, p.seq_q, 1, Dtype::f32));
    t.push_back(declare(p, "m", Role::scratch, Meaning::statistic, Sliced::by_head, p.seq_q, 1, Dtype::f32));
    return t;
}

inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const auto s = tile_sums(p, tile);
    const Index Nq = p.seq_q, d = p.dim, dv = p.dim_v, U = s.row_visits;
    const auto [q, kv, o] = element_bytes(p);
    const Bytes statistics = 2 * size_of(Dtype::f32);  // l and m of a row
    return (Prediction{s.keys_active * (d + dv) * kv + U * (d * q + dv * o + statistics),
                       (Nq + U) * dv * o + (Nq + U) * statistics, 2 * s.scores * (d + dv), s.scores + 2 * U,
                       3 * s.scores + U * (7 + 3 * dv)} +
            of_finishing(p, s) + of_dropping(p, s) + of_scales(p, tile, {1, ScaleLoop::by_keys}))
        .times(p.batch_heads());
}

/// Dao-AILab/flash-attention at 8a2ece89, csrc/flash_attn/src. Tiles in fmha_fwd_hdim*.cu have 16 rows, and the number
/// of keys is the first argument of FMHA_kernel_traits; four warps share the keys. Unlike here, gridDim.z thread blocks
/// take a head's row blocks in turns (fmha_fprop_kernel_1xN.h).
inline constexpr ReleasedKernel released = {
    .whose = "library.flash_attention_1",
    .file = "fmha_fwd_hdim*.cu",
    .dim = 128,
    .compute_capability = 7.5,
    .tiles = [](const Problem& p, const GpuSpec&) -> Tiling {
        return {16, std::max(p.dim, p.dim_v) > 64 || p.seq_k <= 128 ? 128 : 256};
    },
    .warps = [](const Problem&, Index) -> Index { return 4; },
    .split = WarpSplit::keys};

inline constexpr KernelDescription kernel_description = {
    .on_cuda_cores = StatedError{0.04, 0.13}, .released = &released, .by_paper_rule = true};

inline Algorithm describe() {
    return {.name = "flash_v1",
            .lineage = {.rung = 4},
            .computes = &computation::attention,
            .supports = forward_features.with(Feature::dropout),
            .paper = {.title = "FlashAttention", .source = "FlashAttention, arXiv 2205.14135, Algorithm 1"},
            .code = code,
            .tensors = tensors,
            .run = run,
            .predict = predict,
            .kernel = &kernel_description};
}

}  // namespace tilescope::flash_v1
