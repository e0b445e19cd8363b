// Choosing tiles, and how many thread blocks share an SM: as published, by the paper's rule, or the best there are.
#pragma once

#include "core/machine/out_of_chip_memory.hpp"
#include "lab/run/experiment.hpp"
#include "lab/workload/packing.hpp"
#include "lab/workload/splits.hpp"

namespace tilescope::lab {

/// Where tile sizes come from that the user does not give.
enum class TileRule : std::uint8_t {
    kernel,  ///< lab/model/published_tiles.hpp
    paper,   ///< paper_rule()
    best,    ///< a search for the least of an objective
    common,  ///< for `compare`: the usual kernel's for all, but kernels of tiled products keep their own
};
enum class Objective : std::uint8_t { time, dram, sm_traffic };
inline constexpr TileRule tile_rules[] = {TileRule::kernel, TileRule::paper, TileRule::best};
inline constexpr Objective objectives[] = {Objective::time, Objective::dram, Objective::sm_traffic};
const char* name_of(TileRule rule);
const char* name_of(Objective objective);

/// What the user asks of the mapping; TileScope chooses the rest.
struct Wish {
    Tiling tiling;  ///< 0: free to choose
    TileRule rule = TileRule::kernel;
    Objective objective = Objective::time;
    Placing placing = {};
    SplitRule splits = SplitRule::fa2;
    Packing packing = Packing::automatic;
};

/// The mapping that was chosen for a wish.
struct Mapping {
    Tiling tiling;
    Placing placing = {};
};

/// "Br 128, Bc 64, S 8": the values of the algorithm's knobs.
std::string tiles_text(const Experiment& experiment);

/// Throws BadValue where Br or Bc is negative or above 2^31, or where so many parts would make counts inexact.
void validate(const Tiling& given, const Problem& problem);

/// FlashAttention (arXiv 2205.14135), Algorithm 1, line 1, with M the SRAM of a thread block in elements:
/// Bc = ceil(M / 4d), Br = min(Bc, d); rounded down to multiples of 16 (above 16) and cut to the problem.
Tiling paper_rule(const Problem& problem, const GpuSpec& gpu);

/// The wish with the number of parts of the keys filled in, unless the algorithm's own rule needs the tiles first. The
/// number is 0 where the algorithm has no such knob.
Wish with_splits(Wish wish, const Algorithm& algorithm, const Problem& problem, const GpuSpec& gpu);

/// The tiling, with open knobs (0) filled in by the algorithm's own rules: parts of the keys, and knobs that are no
/// sizes. Without such rules, returns `tiling`.
Tiling completed(Tiling tiling, const Algorithm& algorithm, const Problem& problem, const GpuSpec& gpu);

/// Whether every tile of the program fits on chip with this tiling.
bool fits(const Algorithm& algorithm, const Problem& problem, const Tiling& tiling, const GpuSpec& gpu);

/// The GPU with unlimited SRAM or registers. A program that asks how much room there is may run differently there.
GpuSpec with_room(GpuSpec gpu, bool sram = true, bool registers = true);

/// Completes the given sizes (0: free to choose) by the rule, then halves the free ones until every tile fits on chip.
/// nullopt where no sizes fit.
std::optional<Tiling> fitting_tiling(const Algorithm& algorithm, const Problem& problem, const Tiling& given,
                                     const GpuSpec& gpu, TileRule rule = TileRule::kernel);

/// A tiling that fits, in place of `tiling`, which does not. It keeps Br if possible, or else Bc, or else neither. A
/// size of 1 is not kept, because 1 is the last resort of mapped().
std::optional<Tiling> nearest_fit(const Algorithm& algorithm, const Problem& problem, const Tiling& tiling,
                                  const GpuSpec& gpu);

/// The best tiling that the search finds (lab/study/tile_search.hpp). Given sizes stay. nullopt where nothing fits
/// without spilling registers. Throws Interrupted.
std::optional<Mapping> best_mapping(const Algorithm& algorithm, const Problem& problem, const Wish& wish,
                                    const GpuSpec& gpu, Control* control = nullptr);

/// The experiment that the wish asks for. Where nothing fits, free sizes are 1; running it says what is too large.
Experiment mapped(const Algorithm& algorithm, const Problem& problem, const Wish& wish, const GpuSpec& gpu,
                  Control* control = nullptr);
/// Only the tiling of mapped().
Tiling choose_tiling(const Algorithm& algorithm, const Problem& problem, const Wish& wish, const GpuSpec& gpu);

/// A message of several lines: the tiles in the space that is full, the bytes that are missing, and a tiling that fits.
/// `given`: the sizes that the user asked for (0: chosen by TileScope), which the message tells from chosen ones;
/// nullopt where the user asked for all.
std::string explain(const OutOfChipMemory& error, const Algorithm& algorithm, const Problem& problem,
                    const Tiling& tiling, const GpuSpec& gpu, const std::optional<Tiling>& given = std::nullopt);

}  // namespace tilescope::lab
