// How long a run takes, launch by launch, what it waits for, and what reaches DRAM. Modelled: docs/time.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/contract/kernel_description.hpp"
#include "core/time/cache.hpp"
#include "core/time/residency.hpp"
#include "core/time/step.hpp"
#include "core/time/tile_law.hpp"

namespace tilescope::lab {

/// What a launch waits for.
enum class Bound : std::uint8_t {
    launch,  ///< the launch itself
    blocks,  ///< too few thread blocks to fill the SMs
    tensor,
    fma,
    exp,
    alu,
    sram,
    l2,
    dram,        ///< tensor to dram are units, in the order of Unit
    dependency,  ///< the phases of a step wait for each other
};
const char* name_of(Bound bound);
/// The limit in words: "shared memory", or the flag --blocks-per-sm where a user set the limit.
const char* name_of(ResidencyLimit limit);

/// How many thread blocks of a launch share an SM, and what each takes of it.
struct Occupancy {
    Residency residency;    ///< of thread blocks on an SM
    Index warps = 0;        ///< of a thread block
    Index registers = 0;    ///< of a thread
    bool compiled = false;  ///< registers as compiled; else by a rule
    bool spills = false;    ///< by the rule, a thread would need more registers than it may have
};

struct LaunchTime : Occupancy {
    std::string kernel;
    Count blocks = 0;  ///< thread blocks of the program: row blocks, where the kernel's are persistent
    double clock_mhz = 0;
    double sustained_mhz = 0;  ///< once power limits the clock, after some 80 ms of such launches; else clock_mhz
    double us = 0;             ///< including what launching takes
    double launching_us = 0;   ///< what launching takes
    double waves = 0;          ///< thread blocks over the number that all SMs hold at once
    double tail = 0;           ///< share of the SMs' slots that is empty once the last block has started
    double imbalance = 1;      ///< the longest block's time over the mean
    double resident = 0;       ///< thread blocks on an SM, on average
    Index sms = 0;             ///< SMs that have a thread block at all
    Count persistent = 0;      ///< thread blocks that stay and share out the row blocks; 0: each has its own
    StepTime step;             ///< of the loop (or of what is outside loops) where most time is spent
    double steps = 0;          ///< iterations of that loop in a thread block, on average
    PerUnit busy{};            ///< share of the time and the SMs in which a unit is at work
    Bound bound = Bound::launch;
    std::optional<TileLaw> lanes = {};      ///< where lanes were played: of a row tile
    std::optional<DramTraffic> dram;        ///< with an empty L2, as hardware counters measure
    std::optional<DramTraffic> dram_again;  ///< when the run is repeated, as for the time
};

/// How many thread blocks the kernel starts.
inline Count started(const LaunchTime& l) { return l.persistent > 0 ? l.persistent : l.blocks; }

/// Whether a step takes more than 2% longer because other SMs use L2 and DRAM, too.
inline bool waits_for_memory(const LaunchTime& l) { return l.step.waits_for_memory(l.residency.blocks, 1.02); }

/// What a modelled time rests on.
enum class Basis : std::uint8_t {
    own_style,    ///< kernels of that algorithm, style and tile were measured on such a machine, and compared
    other_style,  ///< kernels of that style, but not this algorithm's, or not with this tile
    assumed,      ///< a machine on which no kernel was measured: any but the presets H100-SXM and H200 as they are
};
const char* name_of(Basis basis);
/// "registers (estimated)", "registers (would spill)": what keeps more thread blocks off an SM.
std::string limited_by(const LaunchTime& launch);

struct RunTime {
    std::vector<LaunchTime> launches;
    Style style = Style::cuda_cores;
    Tiling tile;  ///< of the kernel: the experiment's, or a larger one that a short problem cuts
    Basis basis = Basis::assumed;
    std::optional<StatedError> error;  ///< where the basis is `own_style`
    bool without_lanes = false;        ///< the program has lanes, and this is the time of its operations without them
    std::string no_dram;               ///< why there is no DRAM traffic; empty where there is
    std::string no_room;               ///< why there is no time: an SM has no room for a thread block; else empty

    double us() const;
    /// Whether a thread of a launch would need more registers than there are: no kernel would run like that.
    bool spills() const;
    /// The launch that takes longest: the run's verdict is about it.
    const LaunchTime& longest() const;
    std::optional<DramTraffic> dram() const;
};
/// Why no kernel could run like this, to be printed beside the time; empty where one could.
std::string why_infeasible(bool spills);
inline std::string why_infeasible(const RunTime& run) { return why_infeasible(run.spills()); }

}  // namespace tilescope::lab
