// The xformers / CUTLASS kernel: FlashAttention-2's loops, built from two tiled matrix products that share one SRAM
// buffer, so the Q tile is fetched again for every key block.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/tile_sums.hpp"

namespace tilescope::memory_efficient {

inline constexpr CodeLine code[] = {
    {1, "for each query block i (parallel thread blocks)"},
    {2, "  on chip: O_i = 0, s' = 0, m' = -inf"},
    {3, "  for each key block j"},
    {4, "    read Q_i, K_j from HBM; S = scale Q_i K_j^T"},
    {5, "    m_new = max(m', rowmax(S)); P = exp(S - m_new); s' = exp(m' - m_new) s' + rowsum(P)"},
    {6, "    O_i = exp(m' - m_new) O_i; m' = m_new"},
    {7, "    P to SRAM; read V_j from HBM; O_i += P V_j (where d_v > 128: read and write O_i)"},
    {8, "  write O_i / s' to HBM"},
    {9, "before: read scales s of 8-bit values (of V_j: s / max s); products are times s", {}, Feature::eight_bits},
};

/// kKeepOutputInRF of kernel_forward.h. Kernels are compiled for head dimensions up to 64, up to 128, or any.
inline bool keeps_output_in_registers(const Problem& p) { return p.dim_v <= 128; }
/// Columns of O that P V computes at once where O does not stay in registers: as many as a tile has keys.
inline Index columns_at_once(const Tiling& tile) { return tile.bc; }

/// O_acc: the unfinished O, in f32, where neither registers nor O itself can hold it.
inline std::vector<TensorDecl> tensors(const Problem& p, const Tiling&) {
    auto t = computation::attention.tensors(p);
    if (!keeps_output_in_registers(p) && p.output_type() != Dtype::f32)
        t.push_back(declare(p, "O_acc", Role::scratch, Meaning::output, Sliced::by_head, p.seq_q, p.dim_v, Dtype::f32));
    return t;
}

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

/// FlashAttention-2's counts without the LSE, but Q is read once per visited tile. Where O is not kept in registers, O
/// goes to HBM and back between two visited tiles.
inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const auto s = tile_sums(p, tile);
    const Index seeing = part_visits(p, tile, ceil_div(p.seq_k, tile.bc)).rows;
    const bool in_registers = keeps_output_in_registers(p);
    const Bytes unfinished = in_registers ? 0 : (s.row_visits - seeing) * p.dim_v * size_of(Dtype::f32);
    const Index Nq = p.seq_q, d = p.dim, dv = p.dim_v;
    const auto [q, kv, o] = element_bytes(p);
    return (Prediction{s.row_visits * d * q + s.keys_streamed * (d + dv) * kv + unfinished, Nq * dv * o + unfinished,
                       2 * s.scores * (d + dv), s.scores + s.row_visits,
                       3 * s.scores + s.row_visits * (2 + dv) + (in_registers ? Nq * dv : 0)} +
            of_finishing(p, s) + of_dropping(p, s) + of_scales(p, tile, {s.row_blocks}))
        .times(p.batch_heads());
}

/// xformers, csrc/attention/cuda/fmha. kernel_forward.h has 32 x 32 scores per warp (kNumWarpsPerBlock) and room for 16
/// warps on an SM (kMinBlocksPerSm). gemm_kernel_utils.h uses mma m16n8k8 from sm_80 on: 1,992 FLOPs per cycle and SM,
/// where m16n8k16 reaches 2,680 (H100 and H200).
inline constexpr TiledProducts tiled = {.warp = 32, .piece = 32, .warps_on_sm = 16, .rate = 1992.0 / 2680};

inline constexpr SharedPlace places[] = {{{"Q", "K", "P"}}, {{"Q", "K", "V"}}};

/// xformers, generate_kernels.py: queries x keys of a tile, by the greatest head dimension.
inline constexpr ReleasedKernel released = {.whose = "library.xformers",
                                            .kernel = "kernel.pytorchs",
                                            .file = "generate_kernels.py",
                                            .takes_bias = true,
                                            .tiles = [](const Problem& p, const GpuSpec& gpu) -> Tiling {
                                                const Index dim = std::max(p.dim, p.dim_v);
                                                if (dim <= 64) return {64, 64};
                                                const bool old =
                                                    gpu.compute_capability == "7.0" || gpu.compute_capability == "7.5";
                                                return {dim <= 128 && !old ? 64 : 32, 128};
                                            }};

inline constexpr KernelDescription kernel_description = {
    .places = places, .tiled = tiled, .on_cuda_cores = StatedError{0.07, 0.17}, .released = &released};

inline Algorithm describe() {
    return {
        .name = "memory_efficient",
        .lineage = {.rung = 6},
        .computes = &computation::attention,
        .supports = forward_features.with(Feature::dropout),
        .paper = {.title = "memory-efficient attention",
                  .source =
                      "xformers memory_efficient_attention (CUTLASS forward kernel), PyTorch's EFFICIENT_ATTENTION"},
        .code = code,
        .tensors = tensors,
        .run = run,
        .predict = predict,
        .kernel = &kernel_description};
}

}  // namespace tilescope::memory_efficient
