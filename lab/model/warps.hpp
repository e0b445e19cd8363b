// How the warps of a thread block share the products of a tile, and how many bytes that moves between shared memory and
// registers: FlashAttention-2 (arXiv 2307.08691), section 3.3. For kernels whose warps load operands from shared memory
// themselves (mma.sync). Closed forms, because a tile program has no warps whose bytes could be counted.
//
// KernelDescription::keys_of_warp is another thing: the layout of TileScope's own kernel, which the time model uses.
#pragma once

#include <optional>
#include <string>

#include "algorithms/contract/kernel_description.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

struct Warps {
    Index number = 4;
    WarpSplit split = WarpSplit::rows;
    bool keeps_keys = false;  ///< with split K: K_j and V_j stay in registers over all row blocks
};

inline constexpr Index most_warps_of_a_block = 32;
inline constexpr Index least_share = 16;  ///< the fewest rows or keys of a warp: those of one mma.m16n8k16

/// Throws BadValue where `number` is not a power of two from 1 to most_warps_of_a_block.
void validate_warps(Index number);
/// Whether every warp has enough rows, or keys, for at least one product.
bool possible(const Warps& warps, const Tiling& tiling);

/// Bytes that warps read from and write to shared memory. Loads from HBM are left out: both splits have the same.
struct WarpBytes {
    Bytes q = 0, kv = 0;
    Bytes statistics = 0;  ///< the warps' maxima and sums: written by each, read by all
    Bytes outputs = 0;     ///< the warps' parts of O: written once, and read once to be added up

    Bytes total() const { return q + kv + statistics + outputs; }
    friend bool operator==(const WarpBytes&, const WarpBytes&) = default;
};
WarpBytes of_tile(const Warps& warps, const Problem& problem, Index rows, Index keys);
/// The sum over all tiles that a run visits, of valid rows and keys only. The split has to be possible(). K and V that
/// stay in registers are read once for each key block.
WarpBytes of_run(const Warps& warps, const Experiment& experiment);

/// Bc / Br at which both splits move equally many bytes. Below it, splitting rows moves fewer; above it, splitting
/// keys. nullopt for one warp.
std::optional<double> even_width(const Warps& warps, const Problem& problem);

/// Registers of a thread that hold its warp's part of K_j and V_j.
Index registers_of_keys(Index warps, const Problem& problem, Index keys);

/// The warps of an algorithm's released kernel.
struct ReleasedWarps {
    Warps warps;         ///< at the experiment's tiles
    std::string kernel;  ///< "FlashAttention-2's released kernel", or the rule that replaces a missing kernel
    Tiling tiling;       ///< the kernel's own tiles; 0 x 0 on a GPU without a compute capability ("toy")
    Index number;        ///< the kernel's own number of warps, at `tiling`
};
/// For a forward pass, with `number` warps (0: as released); nullopt where the released kernel has neither split.
std::optional<ReleasedWarps> released_warps(const Experiment& experiment, Index number = 0);

/// What the warps of a backward pass's released kernel exchange through shared memory, per tile.
struct ReleasedExchange {
    Index warps, own;  ///< numbers of warps: as asked for; of the released kernel
    std::string kernel;
    bool partial_sums;  ///< warps split the keys and exchange parts of dQ_i in f32; else P and dS, as stored
    Bytes bytes;
};
std::optional<ReleasedExchange> released_exchange(const Experiment& experiment, Index number = 0);

}  // namespace tilescope::lab
