// The gradients as five kernels: P kept from the forward pass, dP and dS in HBM.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/kernel_description.hpp"

namespace tilescope::standard_backward {

inline constexpr CodeLine code[] = {
    {1, "launch 1: for each key block j (parallel thread blocks): dV_j = 0"},
    {2, "  for i = 1..Tr: read P_ij, dO_i from HBM; dV_j += P_ij^T dO_i"},
    {3, "  write dV_j", ""},
    {4, "launch 2: for each tile (i, j) (parallel thread blocks)"},
    {5, "  read dO_i, V_j; write dP_ij = dO_i V_j^T"},
    {6, "launch 3: for each block of rows (parallel thread blocks)"},
    {7, "  read P_i, dP_i; D_i = rowsum(P_i * dP_i)"},
    {8, "  write dS_i = P_i * (dP_i - D_i); if rows do not fit, read P_i, dP_i again"},
    {9, "launch 4: for each row block i (parallel thread blocks): dQ_i = 0", ""},
    {10, "  for j = 1..Tc: read dS_ij, K_j; dQ_i += scale dS_ij K_j", ""},
    {11, "  write dQ_i", ""},
    {12, "launch 5: for each key block j (parallel thread blocks): dK_j = 0", ""},
    {13, "  for i = 1..Tr: read dS_ij, Q_i; dK_j += scale dS_ij^T Q_i"},
    {14, "  write dK_j", ""},
};

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

/// Rows of P, dP and their product that a thread block of launch 3 holds in `registers` bytes, with D; 0 where not even
/// one fits.
inline Index resident_rows(const Problem& p, Bytes registers) {
    return registers / ((3 * p.seq_k + 1) * size_of(Dtype::f32));
}

std::vector<TensorDecl> tensors(const Problem& p, const Tiling& tile);
Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec& gpu);
/// FlashAttention (arXiv 2205.14135), Algorithm 3: matrix products read their operands once.
std::optional<Idealised> idealised(const Problem& p);

inline constexpr KernelDescription kernel_description = {.on_cuda_cores = StatedError{0.07, 0.22}};

inline Algorithm describe() {
    return {.name = "standard_backward",
            .lineage = {.rung = 1, .forward = "standard"},
            .computes = &computation::attention_backward,
            .supports = attention_features,
            .paper = {.title = "standard attention, backward",
                      .source = "FlashAttention, arXiv 2205.14135, Algorithm 3",
                      .idealised = idealised},
            .code = code,
            .tensors = tensors,
            .run = run,
            .predict = predict,
            .kernel = &kernel_description};
}

}  // namespace tilescope::standard_backward
