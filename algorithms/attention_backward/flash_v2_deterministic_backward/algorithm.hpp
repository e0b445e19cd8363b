// FlashAttention-2's released backward pass in its deterministic mode: few thread blocks per head, and each sums dQ in
// a tensor of its own. A last launch adds these sums up in a fixed order.
#pragma once

#include "algorithms/attention_backward/flash_v2_backward/released.hpp"
#include "algorithms/attention_backward/steps.hpp"

namespace tilescope::flash_v2_deterministic_backward {

inline constexpr CodeLine code[] = {
    {1, "launch 1: for each row block i: read O_i, dO_i from HBM; write D_i = rowsum(dO_i * O_i), dQ~_i = 0 S times"},
    {2, "launch 2: for each part s of the key blocks (parallel thread blocks): for j = s, s + S, s + 2S, ..."},
    {3, "  read K_j, V_j from HBM; dK_j = 0, dV_j = 0"},
    {4, "  for i = 1..Tr: read Q_i, dO_i, LSE_i, D_i"},
    {5, "    P = exp(scale Q_i K_j^T - LSE_i)"},
    {6, "    dV_j += P^T dO_i", ""},
    {7, "    dP = dO_i V_j^T; dS = P * (dP - D_i)"},
    {8, "    add scale dS K_j to part s's dQ~_i in HBM"},
    {9, "    dK_j += scale dS^T Q_i", ""},
    {10, "  write dK_j, dV_j"},
    {11, "launch 3: for each row block i: read dQ~_i of all parts and add them up; write dQ_i"},
};

/// The library's rule for S (flash_bwd_launch_template.h): enough parts for one thread block per SM.
inline Index library_parts(const Problem& p, const Tiling&, const GpuSpec& gpu) {
    return ceil_div(gpu.sms, p.kv_slices());
}
/// S: 1 where the tiling does not give it.
inline Index parts_of(const Tiling& tile) { return std::max<Index>(1, tile.splits); }

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

/// dQ~ has S Nq rows per head: the rows of a part below those of the part before.
inline std::vector<TensorDecl> tensors(const Problem& p, const Tiling& tile) {
    auto t = backward::tensors_with_products(p);
    t.push_back(declare_gradient(p, "dQ~", Role::scratch, Meaning::query, Sliced::by_head, parts_of(tile) * p.seq_q,
                                 p.dim, Dtype::f32));
    return t;
}

inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const auto s = tile_sums(p, tile);
    const Index S = parts_of(tile), sums = p.seq_q * p.dim, f = size_of(Dtype::f32);  // sums: elements of a part of dQ~
    const Prediction of_queries = {.hbm_read = f * S * sums,
                                   .hbm_write = f * S * sums + size_of(p.dtype) * sums,
                                   .matmul_flops = 2 * s.scores * p.dim,
                                   .other_flops = (S - 1) * sums,
                                   .hbm_reduce = f * s.row_visits * p.dim};
    return (backward::of_products(p) + of_queries).times(p.batch_heads()) + backward::of_key_blocks(p, s);
}

inline constexpr KernelDescription kernel_description = {
    .on_cuda_cores = StatedError{0.16, 0.21}, .released = &flash_v2_backward::released, .parts = library_parts};

inline Algorithm describe() {
    return {.name = "flash_v2_deterministic_backward",
            .lineage = {.rung = 5, .forward = "flash_v2"},
            .computes = &computation::attention_backward,
            .supports = attention_features.with(Feature::alibi).with(Feature::soft_cap).with(Feature::dropout),
            .paper = {.title = "FlashAttention-2, deterministic backward",
                      .source = "FlashAttention-2's flash_bwd_kernel.h, deterministic mode"},
            .code = code,
            .tensors = tensors,
            .run = run,
            .predict = predict,
            .knobs = split_knobs,
            .kernel = &kernel_description};
}

}  // namespace tilescope::flash_v2_deterministic_backward
