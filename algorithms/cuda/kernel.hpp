// The contract between an algorithm's kernel, where it has one, and everything that runs it. The header has no CUDA
// types, so that it compiles without nvcc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "algorithms/contract/feature_names.hpp"
#include "algorithms/cuda/tables.hpp"

namespace tilescope {

/// What a kernel supports besides no mask and the causal mask.
enum class Takes : std::uint8_t {
    plain,   ///< nothing
    masks,   ///< any mask
    scores,  ///< any mask, biases, ALiBi, soft-cap, and dropout without a stored mask
};

/// What a problem may ask some kernel for.
inline constexpr FeatureSet kernel_features = {Feature::head_dims, Feature::grouped_heads, Feature::scale,
                                               Feature::mask,      Feature::naive_softmax, Feature::block_mask,
                                               Feature::documents, Feature::bias,          Feature::alibi,
                                               Feature::soft_cap,  Feature::dropout,       Feature::eight_bits};
/// What the problem asks for that no kernel has. Of 8 bits, kernels have those that Q, K and V share, with a scale for
/// each head of K and V, or for all, or none.
inline std::optional<Feature> without_kernel(const Problem& p) {
    for (const Feature f : all_features)
        if (p.uses(f) && !kernel_features.has(f)) return f;
    const bool alike = p.query_type() == p.dtype && p.key_type() == p.dtype;
    const bool few_scales = p.scales == Scaling::head || p.scales == Scaling::tensor || p.scales == Scaling::none;
    if (p.uses(Feature::eight_bits) && !(alike && few_scales)) return Feature::eight_bits;
    return std::nullopt;
}

/// One compiled instance of a kernel: the problems that it serves, and the resources that a thread block takes.
struct KernelVariant {
    Dtype dtype;
    Tiling tile;       ///< without `splits`: an instance cuts the keys into any number of parts
    Index dim, dim_v;  ///< 0 where the algorithm has no such size
    Index threads;     ///< per thread block; launches besides the main one may have more, or fewer
    Bytes tiles;       ///< shared memory for the tiles that the model counts: the simulated SRAM peak
    Bytes staging;     ///< shared memory that the model does not count, for example P between two products
    Takes takes = Takes::plain;
    bool takes_turns = false;  ///< thread blocks add to the same rows, one after the other
    bool hopper = false;       ///< has instructions of compute capability 9.0, which no other GPU has
    bool causal = false;       ///< the default under a causal mask, though it is not the first of its head dimension

    constexpr Bytes shared() const { return tiles + staging; }
    friend constexpr bool operator==(const KernelVariant&, const KernelVariant&) = default;
    bool serves(const Problem& p) const {
        // Kernels move the diagonal by one key per row, which is wrong for packed heads. These are served where nothing
        // is hidden: without a mask, or with a single query that is aligned with the last key.
        const bool at_the_end = p.queries() == 1 && p.corner == Corner::bottom_right;
        const bool in_order = p.packed == 1 || at_the_end || !p.mask.hides();
        return in_order && takes_scores_of(p) && !without_kernel(p) && dtype == p.dtype && (dim == 0 || dim == p.dim) &&
               (dim_v == 0 || dim_v == p.dim_v);
    }

  private:
    bool takes_scores_of(const Problem& p) const {
        if (scores_are_plain(p)) return true;
        return p.packed == 1 && !p.dropout.stored && takes >= (scores_are_changed(p) ? Takes::scores : Takes::masks);
    }
};

/// Rows of queries that each thread of an fp32 kernel owns, and lanes that share a row.
inline constexpr Index rows_per_thread = 8, lanes_per_row = 16;
constexpr Index fp32_threads(Index br) { return br / rows_per_thread * lanes_per_row; }

/// A thread block has Q_i, K_j and V_j side by side in shared memory, and stages P beside them between the products.
constexpr KernelVariant fp32_variant(Index br, Index bc, Index d, Index dv) {
    return {Dtype::f32, {br, bc}, d, dv, fp32_threads(br), 4 * (br * d + bc * d + bc * dv), 4 * br * bc};
}

constexpr KernelVariant taking(Takes what, KernelVariant v) {
    v.takes = what;
    return v;
}

constexpr KernelVariant on_hopper(KernelVariant v) {
    v.hopper = true;
    return v;
}

/// fp32_variant(), but V_j takes K_j's place in shared memory.
constexpr KernelVariant in_turns_variant(Index br, Index bc, Index d, Index dv) {
    KernelVariant v = fp32_variant(br, bc, d, dv);
    v.tiles = 4 * (br * d + bc * std::max(d, dv));
    return v;
}

/// Softmax of rows: chunks and row statistics are in registers, and nothing is in shared memory.
constexpr KernelVariant row_variant(Index br, Index bc) { return {Dtype::f32, {br, bc}, 0, 0, fp32_threads(br), 0, 0}; }

/// Layout of a tensor in device memory, in elements. Because L2 is read in sectors of 32 bytes, every row and slice
/// starts at a multiple of 32 bytes. Only the rows of a tensor of one column are dense.
struct DeviceLayout {
    Index row, slice;  ///< distance from one row, or slice, to the next

    constexpr DeviceLayout(Index rows, Index cols, Dtype dtype)
        : row(cols == 1 ? 1 : whole_sectors(cols, dtype)), slice(whole_sectors(rows * row, dtype)) {}

  private:
    static constexpr Index whole_sectors(Index elements, Dtype dtype) {
        const Index sector = 32 / size_of(dtype);
        return ceil_div(elements, sector) * sector;
    }
};

/// A tensor in device memory.
struct DeviceTensor {
    void* data;
    DeviceLayout layout;
};

/// The declared tensors on the device, by name.
class DeviceTensors {
  public:
    void add(std::string_view name, DeviceTensor tensor) { tensors_.emplace_back(name, tensor); }
    DeviceTensor operator[](std::string_view name) const;

  private:
    std::vector<std::pair<std::string_view, DeviceTensor>> tensors_;
};

/// Everything that a kernel needs to be launched.
struct KernelCall {
    const KernelVariant* variant;
    Problem problem;
    DeviceTensors tensors;
    void* stream;      ///< a cudaStream_t
    Index splits = 0;  ///< parts of the keys, where the algorithm cuts them
    DeviceTables tables = {};
    /// Where the variant takes turns: a word per row block of each head, 0 before a run and again after it.
    std::uint32_t* turns = nullptr;

    Tiling tile() const {
        Tiling t = variant->tile;
        return t.splits = splits, t;
    }
};

/// Throws where a grid has more heads than CUDA takes in its second axis.
void require_heads_of_grid(Index batch_heads);
/// Throws where the scale is not positive. The tensor-core kernels take the row maximum of unscaled scores; a negative
/// scale would turn it into a minimum.
void require_positive_scale(const Problem& problem);

}  // namespace tilescope
