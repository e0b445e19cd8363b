// Attention as three kernels: S = scale Q K^T, P = softmax(S), O = P V, with S and P in HBM.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/kernel_description.hpp"

namespace tilescope::standard {

inline constexpr CodeLine code[] = {
    {1, "launch 1: for each tile (i, j) (parallel thread blocks)"},
    {2, "  read Q_i, K_j from HBM; write S_ij = scale Q_i K_j^T"},
    {3, "launch 2: for each block of rows (parallel thread blocks)"},
    {4, "  read S_i; m = rowmax(S_i) (naive: m = 0)"},
    {5, "  l = rowsum(exp(S_i - m)); write P_i = exp(S_i - m) / l"},
    {6, "launch 3: for each row block i (parallel thread blocks)"},
    {7, "  for j = 1..Tc: read P_ij, V_j; O_i += P_ij V_j"},
    {8, "  write O_i"},
    {9, "not three launches, but those of the list: products as 1 and 3, softmax as 2, others:", {}, Feature::passes},
    {10, "  each (i, j): read S_ij; scale, mask, exp(S_ij - m_i), S_ij / l_i, rowmax or rowsum", {}, Feature::passes},
    {11, "  write S_ij, or m_i or l_i of its rows", {}, Feature::passes},
    {12, "before: read scales s of 8-bit values (of V_j: s / max s); products are times s", {}, Feature::eight_bits},
};

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

/// Rows of S that a thread block of launch 2 holds in `registers` bytes, with their m and l; 0 where not even one fits.
inline Index resident_rows(const Problem& p, Bytes registers) {
    return registers / ((p.seq_k + 2) * size_of(Dtype::f32));
}

/// As few row blocks as possible with at most `resident` rows each, of even height.
inline Tiles even_rows(const Problem& p, Index resident) {
    return {p.seq_q, ceil_div(p.seq_q, ceil_div(p.seq_q, resident)), "i"};
}

std::vector<TensorDecl> tensors(const Problem& p, const Tiling& tile);
Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec& gpu);
/// FlashAttention (arXiv 2205.14135), Algorithm 0: both products read their operands once.
std::optional<Idealised> idealised(const Problem& p);

inline constexpr KernelDescription kernel_description = {.on_cuda_cores = StatedError{0.04, 0.14}};

inline Algorithm describe() {
    return {.name = "standard",
            .lineage = {.rung = 1},
            .computes = &computation::attention,
            .supports = forward_features.with(Feature::naive_softmax)
                            .with(Feature::dropout)
                            .with(Feature::score_types)
                            .with(Feature::passes),
            .paper = {.title = "standard attention",
                      .source = "FlashAttention, arXiv 2205.14135, Algorithm 0",
                      .idealised = idealised},
            .code = code,
            .tensors = tensors,
            .run = run,
            .predict = predict,
            .kernel = &kernel_description};
}

}  // namespace tilescope::standard
