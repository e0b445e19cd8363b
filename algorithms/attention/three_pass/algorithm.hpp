// Attention in one kernel without S or P in HBM: three passes over K per row block, recomputing S in each.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/tile_sums.hpp"

namespace tilescope::three_pass {

inline constexpr CodeLine code[] = {
    {1, "for each row block i (parallel thread blocks)"},
    {2, "  read Q_i from HBM; m = -inf, l = 0, O_i = 0"},
    {3, "  for j = 1..Tc: read K_j; S = scale Q_i K_j^T; m = max(m, rowmax(S))"},
    {4, "  for j = 1..Tc: read K_j; S = scale Q_i K_j^T; l += rowsum(exp(S - m))"},
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
    return (Prediction{Nq * d * q + s.keys_streamed * (3 * d + dv) * kv, Nq * dv * o, 2 * s.scores * (3 * d + dv),
                       2 * s.scores, 5 * s.scores} +
            of_finishing(p, s, 3) + of_scales(p, tile, {.blocks = s.row_blocks, .times = 3}))
        .times(p.batch_heads());
}

inline constexpr SharedPlace places[] = {{{"K", "V"}}};

inline constexpr KernelDescription kernel_description = {.places = places, .on_cuda_cores = StatedError{0.07, 0.23}};

inline Algorithm describe() {
    return {
        .name = "three_pass",
        .lineage = {.rung = 2, .formerly = "safe_softmax"},
        .computes = &computation::attention,
        .supports = forward_features,
        .paper = {.title = "3-pass attention",
                  .source =
                      "safe softmax (Milakov & Gimelshein, arXiv 1805.02867, Algorithm 2) fused with both products"},
        .code = code,
        .tensors = [](const Problem& p, const Tiling&) { return computation::attention.tensors(p); },
        .run = run,
        .predict = predict,
        .kernel = &kernel_description};
}

}  // namespace tilescope::three_pass
