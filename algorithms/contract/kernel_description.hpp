// What an algorithm's kernels have beyond its tile program: data in the algorithm's folder, from which times are
// modelled and tiles are chosen. Counting does not read it.
#pragma once

#include <optional>
#include <span>

#include "algorithms/contract/problem.hpp"
#include "core/time/dispatch.hpp"
#include "core/time/kernel.hpp"
#include "core/time/laned_kernel.hpp"

namespace tilescope {

/// How the warps of a thread block share the products of a tile: FlashAttention-2 (arXiv 2307.08691), section 3.3.
enum class WarpSplit : std::uint8_t {
    keys,  ///< split K: a warp has all rows and some of the keys; warps exchange their parts of m, l and O
    rows,  ///< split Q: a warp has all keys and some of the rows; nothing is exchanged
};

/// SMs of compute capabilities 8.6 and 8.9 have 100 KiB of shared memory, and libraries treat them apart.
inline bool has_small_sms(const GpuSpec& gpu) {
    return gpu.compute_capability == "8.6" || gpu.compute_capability == "8.9";
}

/// A kernel for 16-bit types that a library ships.
struct ReleasedKernel {
    const char* whose;                       ///< the message that names the library: "FlashAttention-2's"
    const char* kernel = "kernel.released";  ///< the message that names the library's kernel
    const char* file;                        ///< the library's source file
    Index dim = 0;                           ///< the greatest head dimension; 0: any
    double compute_capability = 0;           ///< the least that the kernel runs on
    const char* on = "released.on_a100";     ///< the message that names a GPU of that compute capability
    bool takes_bias = false;
    /// Queries x keys of a tile. nullptr: those of the kernel that is `usual` in its computation.
    Tiling (*tiles)(const Problem&, const GpuSpec&) = nullptr;
    /// Warps of a thread block that has `rows` rows; nullptr: not known here.
    Index (*warps)(const Problem&, Index rows) = nullptr;
    WarpSplit split = WarpSplit::rows;
    /// In a backward pass: bytes of a tile that `warps` warps exchange through shared memory.
    Bytes (*exchanged)(const Problem&, const Tiling&, Index warps) = nullptr;
};

/// How far modelled times were from measured ones, as shares of the measured ones.
struct StatedError {
    double mean, worst;
};

/// A kernel with lanes whose times were compared with modelled ones.
struct ComparedKernel {
    StatedError error;
    Tiling other = {};  ///< its roles that differ from those that were asked for; the other knobs are 0
};

/// Where a tile has at most `rows` rows, a tensor-core kernel splits the tile's keys over its warps, each with an m, l
/// and O of its own. A thread block then takes at least `shared` bytes of shared memory.
struct ShortTiles {
    Index rows = 0;
    Bytes shared = 0;
};

struct KernelDescription {
    // TileScope's own kernel, as the time model sees it.
    std::span<const SharedPlace> places = {};  ///< tiles that use the same shared memory one after the other
    bool overlaps = false;                     ///< a launch may start while the one before it still runs
    Index together = 1;                        ///< iterations whose loads into registers are issued together
    Index keys_of_warp = 0;                    ///< keys that a tensor-core warp owns; 0: it owns rows of queries
    ShortTiles short_tiles = {};
    TiledProducts tiled = {};  ///< the products on tensor cores
    /// Errors of modelled times, where kernels were measured: docs/time.md.
    std::optional<StatedError> on_cuda_cores = {}, on_tensor_cores = {};

    // The library's kernel that people run.
    const ReleasedKernel* released = nullptr;
    bool usual = false;  ///< algorithms of its computation without tiles of their own take its tiles, to be comparable
    bool by_paper_rule = false;  ///< its paper has a rule for tiles
    /// The algorithm's rule for the number of parts of the keys, given the tiles. nullptr: lab/workload/splits.hpp.
    Index (*parts)(const Problem&, const Tiling&, const GpuSpec&) = nullptr;
    /// Fills in the knobs that `given` leaves open, where the algorithm has more knobs than tile sizes and parts; given
    /// tile sizes stay. nullptr: it has no more.
    Tiling (*complete)(const Problem&, Tiling given, const GpuSpec&) = nullptr;
    /// How its lanes run, where it has lanes that can be timed; nullptr: it has none.
    LanedKernel (*laned)(const Problem&, const Tiling&, const GpuSpec&) = nullptr;
    /// The kernel with these tiles whose times were compared with those that were modelled from its lanes, as near to
    /// the roles of the tiling as there is one; nullopt: none was, docs/time.md.
    std::optional<ComparedKernel> (*compared)(const Problem&, const Tiling&, const GpuSpec&) = nullptr;
    /// A head dimension as its tensor cores have it, padded; nullptr: as it is.
    Index (*padded)(Index dim, const Tiling&) = nullptr;
    /// The order in which its thread blocks start; nullptr: Order::kernel.
    Order (*order)(const Problem&, const Tiling&) = nullptr;

    const std::optional<StatedError>& stated_error(Style style) const {
        return style == Style::tensor_cores ? on_tensor_cores : on_cuda_cores;
    }
};

}  // namespace tilescope
