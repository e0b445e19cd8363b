// Softmax that cannot overflow: subtract the row's maximum first, at the price of a third pass.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/softmax/stated_error.hpp"

namespace tilescope::softmax_safe {

inline constexpr CodeLine code[] = {
    {1, "for each block of Br rows (parallel thread blocks)"},
    {2, "  m = -inf; for j = 1..Tc"},
    {3, "    read X_j from HBM; m = max(m, rowmax(X_j))"},
    {4, "  l = 0; for j = 1..Tc"},
    {5, "    read X_j; l += rowsum(exp(X_j - m))"},
    {6, "  for j = 1..Tc"},
    {7, "    read X_j; write Y_j = exp(X_j - m) / l"},
};

/// The pseudo-code lines that the operations of the three passes belong to.
struct Lines {
    std::uint16_t begin_max, max, begin_sum, sum, scale;
};
/// The three passes over rows `i` of X, writing Y.
void stream_rows(Block& b, const Hbm& X, const Hbm& Y, Span i, Tiles columns, Lines lines);
void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

/// Milakov & Gimelshein, Algorithm 2, per row of V columns: 3V read, V written; 2V exps; V - 1 comparisons,
/// 2V subtractions, V - 1 additions, V divisions.
inline Prediction predict(const Problem& p, const Tiling&, const GpuSpec&) {
    const Index N = p.seq_q * p.seq_k, e = size_of(p.dtype);
    return Prediction{3 * N * e, N * e, 0, 2 * N, 5 * N - 2 * p.seq_q}.times(p.batch_heads());
}

inline constexpr KernelDescription kernel_description = {.on_cuda_cores = softmax_error};

inline Algorithm describe() {
    return {.name = "softmax_safe",
            .lineage = {.rung = 2},
            .computes = &computation::softmax,
            .supports = {},
            .paper = {.title = "safe softmax", .source = "Milakov & Gimelshein, arXiv 1805.02867, Algorithm 2"},
            .code = code,
            .tensors = [](const Problem& p, const Tiling&) { return computation::softmax.tensors(p); },
            .run = run,
            .predict = predict,
            .kernel = &kernel_description};
}

}  // namespace tilescope::softmax_safe
