// The L2 as the timeline drives it: a cache needs the order in which thread blocks interleave.
#pragma once

#include <optional>

#include "core/machine/gpu_spec.hpp"
#include "core/record/accesses.hpp"
#include "core/time/cache.hpp"
#include "core/time/dispatch.hpp"
#include "core/time/timeline.hpp"

namespace tilescope {

struct L2 {
    Bytes bytes;     ///< of all chiplets
    int partitions;  ///< of a chiplet's L2
    int chiplets;    ///< with caches of their own; thread blocks go to them in turn as they start
};

/// The partition that an SM reads and writes through.
int partition_of(std::uint32_t sm, int partitions);

/// Which heads read the same slice of a tensor. `heads` consecutive heads share a slice, and the tensor has `slices`
/// slices; heads beyond the last slice start again at the first (pages that sequences share). With rounds, every
/// `round` heads have `of_a_round` slices of their own, and slices repeat within a round alone.
struct Sharing {
    Index heads, slices;
    Index round = 0, of_a_round = 0;

    Index slice(Index head) const {
        return round > 0 ? head / round * of_a_round + head / heads % of_a_round : head / heads % slices;
    }
};

L2 l2_of(const GpuSpec& gpu);

/// A cache for each chiplet, empty, for so many tiles.
std::vector<Cache> caches_for(const L2& l2, std::size_t tiles);

/// DRAM traffic of a launch whose tiles all fit in the L2, copies included: a tile that is read before it is written is
/// read once, in any order. nullopt where they do not fit, and with chiplets, where it matters who reads what.
std::optional<DramTraffic> without_misses(const LaunchAccesses& head, std::span<const Sharing> sharing, const L2& l2);

/// DRAM traffic of heads of one thread block each that share no tiles, `resident` of them at a time: every tile stays
/// as long as its block, and is read once. Dirty tiles go to DRAM, except what the L2 still holds at the end. nullopt
/// where heads have more blocks or share tiles, and where the tiles of the resident ones, one copy for each partition,
/// take more than half of the L2: then the order matters.
std::optional<DramTraffic> passing_through(const LaunchAccesses& head, std::span<const Sharing> sharing, const L2& l2,
                                           Index resident);

/// What had reached DRAM when so many thread blocks had started, and what was dirty in the L2.
struct Mark {
    std::size_t started;
    DramTraffic dram = {};
    Bytes dirty = 0;

    Bytes written() const { return dram.written + dirty; }  ///< whether it has left the L2 or not
};

/// DRAM traffic of a launch whose thread blocks start in the order `order` and stay on the SMs as in `stays`.
/// `sharing`: one for each tile of the head. A block asks for its tiles step by step, and spreads the steps evenly over
/// its stay. The caches keep their contents: played again, the launch finds what it left. `marks`: `started` says when;
/// the rest is filled in.
DramTraffic play(const LaunchAccesses& head, std::span<const Sharing> sharing, std::span<const BlockOfHead> order,
                 std::span<const Stay> stays, std::span<Cache> caches, std::span<Mark> marks = {});

}  // namespace tilescope
