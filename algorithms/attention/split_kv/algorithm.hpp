// Flash-decoding: FlashAttention-2 with the keys cut into parts that run in parallel, and a second launch that combines
// their outputs.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/tile_sums.hpp"

namespace tilescope::split_kv {

inline constexpr CodeLine code[] = {
    {1, "launch 1: for each row block i and part s of the keys (parallel thread blocks)"},
    {2, "  take the key blocks of part s that Q_i sees: of p = ceil(Tc/S) in a row"},
    {3, "  if there are none: O_s = 0, LSE_s = -inf, and on with line 10"},
    {4, "  read Q_i from HBM; O = 0, l = 0, m = -inf"},
    {5, "  for each of these key blocks j: read K_j, V_j from HBM"},
    {6, "    S = scale Q_i K_j^T"},
    {7, "    m = max(m_old, rowmax(S)), P~ = exp(S - m), l = exp(m_old - m) l + rowsum(P~)"},
    {8, "    O = exp(m_old - m) O + P~ V_j"},
    {9, "  O_s = O / l, LSE_s = m + log(l)"},
    {10, "  write O_s, LSE_s to HBM"},
    {11, "launch 2: for each block of rows (parallel thread blocks)"},
    {12, "  read LSE_s of all parts from HBM"},
    {13, "  M = max(LSE_s), w_s = exp(LSE_s - M), W = rowsum(w); rows without keys: M = 0"},
    {14, "  LSE = M + log(W), w_s = w_s / W"},
    {15, "  for s = 1..S: read O_s from HBM; O += w_s O_s"},
    {16, "  write O, LSE to HBM"},
    {17, "before: read scales s of 8-bit values (of V_j: s / max s); products are times s", {}, Feature::eight_bits},
};

/// The number of parts, S: 1 where the tiling does not give it.
inline Index parts_of(const Tiling& tile) { return std::max<Index>(1, tile.splits); }

/// Key blocks of a part; the last parts may have fewer.
inline Index blocks_of_a_part(const Problem& p, const Tiling& tile) {
    return ceil_div(ceil_div(p.seq_k, tile.bc), parts_of(tile));
}

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

/// With several parts, O_s (S Nq x dv) has the rows of a part below those of the part before; LSE_s is Nq x S.
inline std::vector<TensorDecl> tensors(const Problem& p, const Tiling& tile) {
    const Index S = parts_of(tile), Nq = p.seq_q;
    auto t = computation::attention.tensors(p);
    t.push_back(declare(p, "LSE", Role::output, Meaning::statistic, Sliced::by_head, Nq, 1, Dtype::f32));
    if (S == 1) return t;
    t.push_back(declare(p, "O_s", Role::scratch, Meaning::output, Sliced::by_head, S * Nq, p.dim_v, Dtype::f32));
    t.push_back(declare(p, "LSE_s", Role::scratch, Meaning::statistic, Sliced::by_head, Nq, S, Dtype::f32));
    return t;
}

/// Rows of a thread block that combines: kBlockM of run_flash_splitkv_fwd (flash_fwd_launch_template.h).
inline Index rows_combined(const Problem& p) { return p.dim_v % 128 == 0 ? 4 : p.dim_v % 64 == 0 ? 8 : 16; }

/// Parts of a row's O_s that are loaded before the first one is used, by all threads that share the row's columns.
inline constexpr Index asked_together = 32;

/// Decoding on tensor cores: rows of a tile, and the shared memory that a thread block asks for. That is more than it
/// uses, so that an SM holds only two thread blocks, as the rules for S assume: HBM is read faster where fewer thread
/// blocks read at a time.
inline constexpr ShortTiles decoding_tiles = {16, 76 << 10};

inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const auto t = tile_sums(p, tile);
    const Index Nq = p.seq_q, d = p.dim, dv = p.dim_v, f = size_of(Dtype::f32);
    const auto [q, kv, o] = element_bytes(p);
    const Index S = parts_of(tile), U = t.row_visits;
    const auto [QA, blocks] = part_visits(p, tile, blocks_of_a_part(p, tile));
    const Index combined = S > 1 ? S * Nq : 0;  // rows of O_s
    const Bytes partials = f * combined * (dv + 1), table = page_entries(p, tile) * size_of(Dtype::i32);
    const Count combining = combined > 0 ? Nq * (4 * S + 2 * S * dv - dv) : 0;
    return (Prediction{QA * d * q + t.keys_streamed * (d + dv) * kv + partials + table, partials + Nq * dv * o + Nq * f,
                       2 * t.scores * (d + dv), t.scores + U + combined,
                       3 * t.scores + U * (2 + dv) + QA * (dv + 2) + combining} +
            of_finishing(p, t) + of_scales(p, tile, {.blocks = blocks, .blocks_of_a_part = blocks_of_a_part(p, tile)}))
        .times(p.batch_heads());
}

/// Dao-AILab/flash-attention at 0251105a: run_mha_fwd_splitkv_dispatch in flash_fwd_launch_template.h.
inline constexpr ReleasedKernel released = {.whose = "library.flash_attention_2",
                                            .kernel = "kernel.split_kv",
                                            .file = "flash_fwd_launch_template.h",
                                            .dim = 256,
                                            .compute_capability = 8.0,
                                            .tiles = [](const Problem& p, const GpuSpec&) -> Tiling {
                                                const Index dim = std::max(p.dim, p.dim_v);
                                                return {64, dim <= 64 ? 256 : dim <= 128 ? 128 : 64};
                                            }};

inline constexpr KernelDescription kernel_description = {.overlaps = true,
                                                         .together = asked_together,
                                                         .short_tiles = decoding_tiles,
                                                         .on_cuda_cores = StatedError{0.10, 0.35},
                                                         .on_tensor_cores = StatedError{0.08, 0.30},
                                                         .released = &released};

inline Algorithm describe() {
    return {.name = "split_kv",
            .lineage = {.rung = 8},
            .computes = &computation::attention,
            .supports = forward_features.with(Feature::pages),
            .paper = {.title = "Flash-Decoding",
                      .source = "Flash-Decoding, crfm.stanford.edu, 2023-10-12; flash_fwd_kernel.h, "
                                "compute_attn_1rowblock_splitkv and combine_attn_seqk_parallel"},
            .code = code,
            .tensors = tensors,
            .run = run,
            .predict = predict,
            .knobs = split_knobs,
            .packs = true,
            .kernel = &kernel_description};
}

}  // namespace tilescope::split_kv
