// What an algorithm's kernels are beyond its tile program: data in the algorithm's folder, for whoever asks how long a
// run takes and by which tiles. Counting does not read it.
#pragma once

#include <optional>
#include <span>

#include "algorithms/contract/problem.hpp"
#include "core/time/kernel.hpp"

namespace tilescope {

/// How the warps of a thread block share the products of a tile: FlashAttention-2 (arXiv 2307.08691), section 3.3.
enum class WarpSplit : std::uint8_t {
    keys,  ///< split K: a warp has all rows and a part of the keys; what it has of m, l and O is exchanged
    rows,  ///< split Q: a warp has all keys and a part of the rows; nothing is exchanged
};

/// SMs of compute capabilities 8.6 and 8.9 have 100 KiB of shared memory, and libraries treat them apart.
inline bool has_small_sms(const GpuSpec& gpu) {
    return gpu.compute_capability == "8.6" || gpu.compute_capability == "8.9";
}

/// A kernel that a library ships, of 16-bit types.
struct ReleasedKernel {
    const char* whose;  ///< "FlashAttention-2's"
    const char* kernel = "released kernel";
    const char* file;               ///< that has it
    Index dim = 0;                  ///< the greatest head dimension; 0: any
    double compute_capability = 0;  ///< the least
    const char* on = "an A100";     ///< a GPU of that compute capability
    bool takes_bias = false;
    /// Queries x keys of a tile. nullptr: it has those of its computation's usual kernel.
    Tiling (*tiles)(const Problem&, const GpuSpec&) = nullptr;
    /// Of a thread block with so many rows; nullptr: not known here.
    Index (*warps)(const Problem&, Index rows) = nullptr;
    WarpSplit split = WarpSplit::rows;
    /// Of a backward pass: bytes that so many warps put into shared memory for one another, of a tile.
    Bytes (*exchanged)(const Problem&, const Tiling&, Index warps) = nullptr;
};

/// How far modelled times were from measured ones, as shares of them.
struct StatedError {
    double mean, worst;
};

/// Tiles of few rows, for which a kernel on tensor cores has its warps along the keys, each with an m, l and O of its
/// own: up to so many rows, and so much shared memory a thread block at least.
struct ShortTiles {
    Index rows = 0;
    Bytes shared = 0;
};

struct KernelDescription {
    // TileScope's own kernel, as the time model has it.
    std::span<const SharedPlace> places = {};  ///< tiles that take turns in shared memory
    bool overlaps = false;                     ///< later launches come up during the one before
    Index together = 1;                        ///< turns whose loads into registers are asked for at once
    Index keys_of_warp = 0;                    ///< that a warp on tensor cores owns; 0: it owns rows of queries
    ShortTiles short_tiles = {};
    TiledProducts tiled = {};  ///< on tensor cores
    /// Of modelled times, where kernels were measured: docs/time.md.
    std::optional<StatedError> on_cuda_cores = {}, on_tensor_cores = {};

    // The kernel that people run.
    const ReleasedKernel* released = nullptr;
    bool usual = false;  ///< algorithms of its computation without tiles of their own have these, to be compared
    bool by_paper_rule = false;  ///< its paper has a rule for tiles
    /// Its rule for the parts of the keys, once tiles are chosen. nullptr: those of lab/splits.hpp.
    Index (*parts)(const Problem&, const Tiling&, const GpuSpec&) = nullptr;

    const std::optional<StatedError>& stated_error(Style style) const {
        return style == Style::tensor_cores ? on_tensor_cores : on_cuda_cores;
    }
};

}  // namespace tilescope
