// Rabe and Staats: every key chunk is summarised on its own, the summaries go to HBM, and are combined at the end.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/tile_sums.hpp"

namespace tilescope::chunked {

inline constexpr CodeLine code[] = {
    {1, "for each query chunk i, one after the other (one thread block per head)"},
    {2, "  read q = Q_i from HBM; M = -inf"},
    {3, "  for each key chunk j: read K_j, V_j; S = scale q K_j^T"},
    {4, "    m_j = rowmax(S), P = exp(S - m_j), s_j = rowsum(P), v_j = P V_j"},
    {5, "    write m_j, s_j, v_j to HBM; M = max(M, m_j)"},
    {6, "  for each key chunk j: read m_j, s_j, v_j"},
    {7, "    w = exp(m_j - M); s += w s_j, v += w v_j"},
    {8, "  write O_i = v / s"},
    {9, "before: read scales s of 8-bit values (of V_j: s / max s); products are times s", {}, Feature::eight_bits},
};

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

/// The summaries of one query chunk, in f32; the next chunk overwrites them.
inline std::vector<TensorDecl> tensors(const Problem& p, const Tiling& tile) {
    const Index rows = ceil_div(p.seq_k, tile.bc) * std::min(tile.br, p.seq_q);
    auto t = computation::attention.tensors(p);
    t.push_back(declare(p, "m_j", Role::scratch, Meaning::statistic, Sliced::by_head, rows, 1, Dtype::f32));
    t.push_back(declare(p, "s_j", Role::scratch, Meaning::statistic, Sliced::by_head, rows, 1, Dtype::f32));
    t.push_back(declare(p, "v_j", Role::scratch, Meaning::output, Sliced::by_head, rows, p.dim_v, Dtype::f32));
    return t;
}

inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const auto t = tile_sums(p, tile);
    const Index Nq = p.seq_q, d = p.dim, dv = p.dim_v, U = t.row_visits;
    const auto [q, kv, o] = element_bytes(p);
    const Bytes summaries = U * (dv + 2) * size_of(Dtype::f32);
    // Other FLOPs: summaries cost 3E - 2U, M costs U. Combining costs per row of a summary one subtraction, 2 for s and
    // 2 dv for v.
    return (Prediction{Nq * d * q + t.keys_streamed * (d + dv) * kv + summaries, summaries + Nq * dv * o,
                       2 * t.scores * (d + dv), t.scores + U, 3 * t.scores + U * (2 + 2 * dv) + Nq * dv} +
            of_finishing(p, t) + of_scales(p, tile, {1}))
        .times(p.batch_heads());
}

inline constexpr KernelDescription kernel_description = {.on_cuda_cores = StatedError{0.05, 0.19}};

inline Algorithm describe() {
    return {.name = "chunked",
            .lineage = {.rung = 7},
            .computes = &computation::attention,
            .supports = forward_features,
            .paper = {.title = "chunked attention", .source = "Rabe & Staats, arXiv 2112.05682, Figure 1"},
            .code = code,
            .tensors = tensors,
            .run = run,
            .predict = predict,
            .kernel = &kernel_description};
}

}  // namespace tilescope::chunked
