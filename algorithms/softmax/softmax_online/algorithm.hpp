// Safe softmax in two passes: the maximum and the denominator in one, by correcting the denominator when the maximum
// changes.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/softmax/stated_error.hpp"

namespace tilescope::softmax_online {

inline constexpr CodeLine code[] = {
    {1, "for each block of Br rows (parallel thread blocks)"},
    {2, "  m = -inf, d = 0"},
    {3, "  for j = 1..Tc"},
    {4, "    read X_j from HBM; m_new = max(m, rowmax(X_j))"},
    {5, "    d = exp(m - m_new) d + rowsum(exp(X_j - m_new))"},
    {6, "  for j = 1..Tc"},
    {7, "    read X_j; write Y_j = exp(X_j - m) / d"},
};

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

/// Milakov & Gimelshein, Algorithm 3 in blocks of Bc, per row of V columns and T = ceil(V / Bc) blocks: 2V read,
/// V written; 2V + T exps; V comparisons, 2V + T subtractions, T multiplications, V additions, V divisions.
inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const Index N = p.seq_q * p.seq_k, T = p.seq_q * ceil_div(p.seq_k, tile.bc), e = size_of(p.dtype);
    return Prediction{2 * N * e, N * e, 0, 2 * N + T, 5 * N + 2 * T}.times(p.batch_heads());
}

inline constexpr KernelDescription kernel_description = {.on_cuda_cores = softmax_error};

inline Algorithm describe() {
    return {.name = "softmax_online",
            .lineage = {.rung = 3},
            .computes = &computation::softmax,
            .supports = {},
            .paper = {.title = "online softmax", .source = "Milakov & Gimelshein, arXiv 1805.02867, Algorithm 3"},
            .code = code,
            .tensors = [](const Problem& p, const Tiling&) { return computation::softmax.tensors(p); },
            .run = run,
            .predict = predict,
            .kernel = &kernel_description};
}

}  // namespace tilescope::softmax_online
