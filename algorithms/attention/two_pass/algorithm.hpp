// Attention in one kernel with two passes over K: maximum and denominator together, then the output.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/tile_sums.hpp"

namespace tilescope::two_pass {

inline constexpr CodeLine code[] = {
    {1, "for each row block i (parallel thread blocks)"},
    {2, "  read Q_i from HBM; m = -inf, l = 0, O_i = 0"},
    {3, "  for j = 1..Tc: read K_j; S = scale Q_i K_j^T; m_new = max(m, rowmax(S))"},
    {4, "    l = exp(m - m_new) l + rowsum(exp(S - m_new)); m = m_new"},
    {5, "  for j = 1..Tc: read K_j, V_j; S = scale Q_i K_j^T; P = exp(S - m) / l"},
    {6, "    O_i += P V_j"},
    {7, "  write O_i"},
    {8, "before: read scales s of 8-bit values (of V_j: s / max s); products are times s", {}, Feature::eight_bits},
};

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const auto s = tile_sums(p, tile);
    const Index Nq = p.seq_q, d = p.dim, dv = p.dim_v;
    const auto [q, kv, o] = element_bytes(p);
    return (Prediction{Nq * d * q + s.keys_streamed * (2 * d + dv) * kv, Nq * dv * o, 2 * s.scores * (2 * d + dv),
                       2 * s.scores + s.row_visits, 5 * s.scores + 2 * s.row_visits} +
            of_finishing(p, s, 2) + of_scales(p, tile, {.blocks = s.row_blocks, .times = 2}))
        .times(p.batch_heads());
}

inline constexpr SharedPlace places[] = {{{"K", "V"}}};

inline constexpr KernelDescription kernel_description = {.places = places, .on_cuda_cores = StatedError{0.05, 0.25}};

inline Algorithm describe() {
    return {
        .name = "two_pass",
        .lineage = {.rung = 3, .formerly = "online_softmax"},
        .computes = &computation::attention,
        .supports = forward_features,
        .paper = {.title = "2-pass attention",
                  .source =
                      "online softmax (Milakov & Gimelshein, arXiv 1805.02867, Algorithm 3) fused with both products"},
        .code = code,
        .tensors = [](const Problem& p, const Tiling&) { return computation::attention.tensors(p); },
        .run = run,
        .predict = predict,
        .kernel = &kernel_description};
}

}  // namespace tilescope::two_pass
