// FlashAttention-2: FlashAttention-1 with the loops exchanged. Q_i and an un-normalised O_i stay on chip while K and V
// stream past.
#pragma once

#include "algorithms/attention/flash_v2/released.hpp"
#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/tile_sums.hpp"

namespace tilescope::flash_v2 {

// Line numbers are those of the paper's Algorithm 1. (In the paper, line 10 inverts the rescaling factor: a misprint.)
inline constexpr CodeLine code[] = {
    {1, "divide Q into Tr blocks, K and V into Tc blocks"},
    {2, "divide O into Tr blocks, LSE into Tr blocks"},
    {3, "for i = 1..Tr (one thread block per row block and head)"},
    {4, "  read Q_i from HBM"},
    {5, "  on chip: O_i = 0, l_i = 0, m_i = -inf"},
    {6, "  for j = 1..Tc"},
    {7, "    read K_j, V_j from HBM"},
    {8, "    S = scale Q_i K_j^T"},
    {9, "    m_i = max(m_old, rowmax(S)), P~ = exp(S - m_i), l_i = exp(m_old - m_i) l_i + rowsum(P~)"},
    {10, "    O_i = exp(m_old - m_i) O_i + P~ V_j"},
    {11, "  end for"},
    {12, "  O_i = O_i / l_i"},
    {13, "  LSE_i = m_i + log(l_i)"},
    {14, "  write O_i to HBM"},
    {15, "  write LSE_i to HBM"},
    {16, "end for"},
    {17, "return O, LSE", ""},
    {18, "before: read scales s of 8-bit values (of V_j: s / max s); products are times s", {}, Feature::eight_bits},
    {19, "9: m_i stays where it hardly grows; P~ = exp(S - m_i + log c); 13: - log c", {}, Feature::weight_range},
};

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

inline std::vector<TensorDecl> tensors(const Problem& p, const Tiling&) {
    auto t = computation::attention.tensors(p);
    t.push_back(declare(p, "LSE", Role::output, Meaning::statistic, Sliced::by_head, p.seq_q, 1, Dtype::f32));
    return t;
}

inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const auto s = tile_sums(p, tile);
    const Index Nq = p.seq_q, d = p.dim, dv = p.dim_v;
    const auto [q, kv, o] = element_bytes(p);
    const Bytes table = page_entries(p, tile) * size_of(Dtype::i32);
    return (Prediction{Nq * d * q + s.keys_streamed * (d + dv) * kv + table, Nq * dv * o + Nq * size_of(Dtype::f32),
                       2 * s.scores * (d + dv), s.scores + s.row_visits,
                       3 * s.scores + s.row_visits * (2 + dv) + Nq * (dv + 2)} +
            of_finishing(p, s) + of_dropping(p, s) + of_scales(p, tile, {s.row_blocks}) + of_weight_range(p, s))
        .times(p.batch_heads());
}

inline constexpr KernelDescription kernel_description = {.on_cuda_cores = StatedError{0.06, 0.24},
                                                         .on_tensor_cores = StatedError{0.04, 0.15},
                                                         .released = &released,
                                                         .usual = true};

inline Algorithm describe() {
    return {.name = "flash_v2",
            .lineage = {.rung = 5},
            .computes = &computation::attention,
            .supports = forward_features.with(Feature::dropout).with(Feature::pages).with(Feature::weight_range),
            .paper = {.title = "FlashAttention-2", .source = "FlashAttention-2, arXiv 2307.08691, Algorithm 1"},
            .code = code,
            .tensors = tensors,
            .run = run,
            .predict = predict,
            .packs = true,
            .kernel = &kernel_description};
}

}  // namespace tilescope::flash_v2
