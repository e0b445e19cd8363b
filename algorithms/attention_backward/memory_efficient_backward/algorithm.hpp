// The backward pass of xformers / CUTLASS: key blocks are dealt out to thread blocks, every product is a tiled GEMM
// that reads its operands from HBM again, and thread blocks add to tiles of dQ under a lock.
#pragma once

#include "algorithms/attention_backward/steps.hpp"
#include "algorithms/contract/kernel_description.hpp"

namespace tilescope::memory_efficient_backward {

inline constexpr CodeLine code[] = {
    {1, "for each part s of the keys and head (parallel thread blocks)"},
    {2, "  for i = 1..Tr: read O_i, dO_i from HBM; write D_i = rowsum(dO_i * O_i)"},
    {3, "  in part 1, for rows that see no key: write dQ_i = 0"},
    {4, "  for each key block j of part s: dK_j = 0, dV_j = 0"},
    {5, "    for i = 1..Tr: read Q_i, K_j; S = scale Q_i K_j^T"},
    {6, "      read LSE_i; P = exp(S - LSE_i)"},
    {7, "      P to SRAM; read dO_i; dV_j += P^T dO_i"},
    {8, "      read dO_i again, and V_j; dP = dO_i V_j^T"},
    {9, "      read D_i; dS = P * (dP - D_i), to SRAM"},
    {10, "      dS_ij to HBM, if there is a bias"},
    {11,
     "      under a lock: read dQ~_i, but for the first visit of an only part; dQ_i = dQ~_i + scale dS K_j, for which "
     "read K_j again"},
    {12, "      write dQ~_i; at the last visit write dQ_i"},
    {13, "      read Q_i again; dK_j += scale dS^T Q_i", ""},
    {14, "    write dK_j, dV_j"},
    {15, "launch 2, if heads or rows share a bias: for each tile of it, dS of all that share it to chip"},
    {16, "  its gradient, their sum, to HBM", ""},
};

/// The library's rule for S (attention_backward_generic.cu): a part for each key block; one part where there are at
/// least 256 heads and at most two key blocks; and 200 / heads parts (at least one) where 16-bit dK and dV do not fit
/// in registers and are summed in f32 workspaces of their own.
inline Index library_parts(const Problem& p, const Tiling& tile) {
    const Index key_blocks = ceil_div(p.seq_k, tile.bc), heads = p.kv_slices();
    if (heads >= 256 && key_blocks <= 2) return 1;
    const bool grow_in_hbm = p.dtype != Dtype::f32 && std::max(p.dim, p.dim_v) > 128;
    return grow_in_hbm ? std::clamp<Index>(200 / heads, 1, key_blocks) : key_blocks;
}

/// S, which is at most the number of key blocks.
inline Index parts_of(const Problem& p, const Tiling& tile) {
    return tile.splits == 0 ? library_parts(p, tile) : std::min(tile.splits, ceil_div(p.seq_k, tile.bc));
}

/// The tensor in which dQ is summed: dQ itself where it is f32 and there is only one part, else dQ~.
inline const char* accumulator(const Problem& p, const Tiling& tile) {
    return p.dtype == Dtype::f32 && parts_of(p, tile) == 1 ? "dQ" : "dQ~";
}

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile);

/// The number of slices of a bias.
inline Index slices_of(const BiasTerm& term, const Problem& p) {
    return p.bias.slice_of(term, p.batch_heads() - 1, p.heads) + 1;
}
/// The tensor that tiles of dS are stored to: the gradient of a bias of which every head has its own slice, or dS.
inline const char* stored_gradients(const Problem& p) {
    for (std::size_t k = 0; k < p.bias.terms.size(); ++k)
        if (p.bias.terms[k].by_query && slices_of(p.bias.terms[k], p) == p.batch_heads()) return bias_gradients[k];
    return "dS";
}

inline std::vector<TensorDecl> tensors(const Problem& p, const Tiling& tile) {
    auto t = backward::tensors_with_products(p);
    for (TensorDecl& each : t)  // nothing writes tiles that a mask hides
        each.zeroed = each.rows == p.seq_q && std::any_of(std::begin(bias_gradients), std::end(bias_gradients),
                                                          [&](std::string_view name) { return name == each.name; });
    if (p.bias && stored_gradients(p) == std::string_view("dS"))
        t.push_back(declare(p, "dS", Role::scratch, Meaning::score, Sliced::by_head, p.seq_q, p.seq_k, p.dtype));
    if (accumulator(p, tile) == std::string_view("dQ")) return t;
    t.push_back(declare_gradient(p, "dQ~", Role::scratch, Meaning::query, Sliced::by_head, p.seq_q, p.dim, Dtype::f32));
    t.back().zeroed = parts_of(p, tile) > 1;
    return t;
}

/// What gradients of biases add to the counts, for all heads.
inline Prediction of_bias_gradients(const Problem& p, const TileSums& s) {
    if (!p.bias) return {};
    const Index e = size_of(p.dtype), E = s.scores;
    Prediction more = Prediction{0, e * E}.times(p.batch_heads());
    for (std::size_t k = 0; k < p.bias.terms.size(); ++k) {
        if (stored_gradients(p) == std::string_view(bias_gradients[k])) continue;
        const Bytes written = e * (p.bias.terms[k].by_query ? E : p.seq_k);
        more = more + Prediction{e * E, 0, 0, 0, E}.times(p.batch_heads()) +
               Prediction{0, written}.times(slices_of(p.bias.terms[k], p));
    }
    return more;
}

inline Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec&) {
    const auto s = tile_sums(p, tile);
    const Index Nq = p.seq_q, Nk = p.seq_k, d = p.dim, dv = p.dim_v, e = size_of(p.dtype), f = size_of(Dtype::f32);
    const Index S = parts_of(p, tile), U = s.row_visits, Ra = s.rows_active, E = s.scores;
    const Index X = S > 1 ? U : U - Ra;  // rows of dQ~ that are read
    const Prediction of_head = {
        e * (2 * S * Nq * dv + 2 * U * (d + dv) + s.keys_streamed * (2 * d + dv)) + f * (2 * U + X * d),
        e * Nq * d + f * (S * Nq + (U - Ra) * d), 2 * E * (3 * d + 2 * dv), E, 3 * E + S * Nq * (2 * dv - 1)};
    return (of_head + of_finishing_gradients(p, s)).times(p.batch_heads()) +
           Prediction{0, e * Nk * (d + dv)}.times(p.kv_slices()) + of_bias_gradients(p, s);
}

/// xformers, csrc/attention/cuda/fmha/generate_kernels.py: the tiles that fit the GPU's shared memory.
inline constexpr ReleasedKernel released = {.whose = "library.xformers",
                                            .kernel = "kernel.backward_pytorchs",
                                            .file = "generate_kernels.py",
                                            .takes_bias = true,
                                            .tiles = [](const Problem& p, const GpuSpec& gpu) -> Tiling {
                                                const Index dim = std::max(p.dim, p.dim_v);
                                                if (dim <= 64 || gpu.compute_capability == "7.5") return {64, 64};
                                                if (has_small_sms(gpu)) return {dim <= 96 ? 128 : 64, 64};
                                                return {128, dim <= 128 && gpu.compute_capability != "7.0" ? 128 : 64};
                                            }};

inline constexpr KernelDescription kernel_description = {
    .on_cuda_cores = StatedError{0.34, 0.40},
    .released = &released,
    .parts = [](const Problem& p, const Tiling& t, const GpuSpec&) { return library_parts(p, t); }};

inline Algorithm describe() {
    return {
        .name = "memory_efficient_backward",
        .lineage = {.rung = 7, .forward = "memory_efficient"},
        .computes = &computation::attention_backward,
        .supports = attention_features.with(Feature::bias).with(Feature::dropout),
        .paper = {.title = "memory-efficient attention, backward",
                  .source = "xformers memory_efficient_attention (kernel_backward.h), PyTorch's EFFICIENT_ATTENTION"},
        .code = code,
        .tensors = tensors,
        .run = run,
        .predict = predict,
        .knobs = split_knobs,
        .kernel = &kernel_description};
}

}  // namespace tilescope::memory_efficient_backward
