// Softmax as the textbook writes it: sum e^x, then divide. Two passes, and e^x can overflow.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/softmax/stated_error.hpp"

namespace tilescope::softmax_naive {

inline constexpr CodeLine code[] = {
    {1, "for each block of Br rows (parallel thread blocks)"},
    {2, "  l = 0; for j = 1..Tc"},
    {3, "    read X_j from HBM; l += rowsum(exp(X_j))"},
    {4, "  for j = 1..Tc"},
    {5, "    read X_j; write Y_j = exp(X_j) / l"},
};

/// The pseudo-code lines that the operations of the two passes belong to.
struct Lines {
    std::uint16_t begin, sum, scale;
};
/// The two passes over rows `i` of X, writing Y.
void stream_rows(Block& b, const Hbm& X, const Hbm& Y, Span i, Tiles columns, Lines lines);
void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

/// Milakov & Gimelshein, Algorithm 1, per row of V columns: 2V read, V written; 2V exps, V - 1 additions, V divisions.
inline Prediction predict(const Problem& p, const Tiling&, const GpuSpec&) {
    const Index N = p.seq_q * p.seq_k, e = size_of(p.dtype);
    return Prediction{2 * N * e, N * e, 0, 2 * N, 2 * N - p.seq_q}.times(p.batch_heads());
}

inline constexpr KernelDescription kernel_description = {.on_cuda_cores = softmax_error};

inline Algorithm describe() {
    return {.name = "softmax_naive",
            .lineage = {.rung = 1},
            .computes = &computation::softmax,
            .supports = {},
            .paper = {.title = "naive softmax", .source = "Milakov & Gimelshein, arXiv 1805.02867, Algorithm 1"},
            .code = code,
            .tensors = [](const Problem& p, const Tiling&) { return computation::softmax.tensors(p); },
            .run = run,
            .predict = predict,
            .kernel = &kernel_description};
}

}  // namespace tilescope::softmax_naive
