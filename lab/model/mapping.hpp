// Choosing tiles, and how many thread blocks share an SM: as published, by the paper's rule, or the best there are.
#pragma once

#include "core/machine/out_of_chip_memory.hpp"
#include "lab/run/experiment.hpp"
#include "lab/workload/packing.hpp"
#include "lab/workload/splits.hpp"

namespace tilescope::lab {

/// Where tiles come from that the user leaves open.
enum class TileRule : std::uint8_t {
    kernel,  ///< lab/model/published_tiles.hpp
    paper,   ///< paper_rule()
    best,    ///< a search for the least of an objective
    common,  ///< `compare`'s: FlashAttention-2's for all algorithms, but those of tiled products keep their own
};
enum class Objective : std::uint8_t { time, dram, sm_traffic };
inline constexpr TileRule tile_rules[] = {TileRule::kernel, TileRule::paper, TileRule::best};
inline constexpr Objective objectives[] = {Objective::time, Objective::dram, Objective::sm_traffic};
const char* name_of(TileRule rule);
const char* name_of(Objective objective);

/// What the user says of the mapping; the rest is chosen.
struct Wish {
    Tiling tiling;  ///< 0: free to choose
    TileRule rule = TileRule::kernel;
    Objective objective = Objective::time;
    Placing placing = {};
    SplitRule splits = SplitRule::fa2;
    Packing packing = Packing::automatic;
};

/// What was chosen.
struct Mapping {
    Tiling tiling;
    Placing placing = {};
};

/// "Br 128, Bc 64, S 8": the values of the algorithm's knobs.
std::string tiles_text(const Experiment& experiment);

/// Throws BadValue where a given size (not 0) cannot be a tile's, or so many parts would make counts inexact.
void validate(const Tiling& given, const Problem& problem);

/// FlashAttention (arXiv 2205.14135), Algorithm 1, line 1, with M the SRAM of a thread block in elements:
/// Bc = ceil(M / 4d), Br = min(Bc, d); rounded down to multiples of 16 (above 16) and cut to the problem.
Tiling paper_rule(const Problem& problem, const GpuSpec& gpu);

/// The wish with the number of parts of the keys filled in, where that does not depend on tiles; 0 where the algorithm
/// has no such knob.
Wish with_splits(Wish wish, const Algorithm& algorithm, const Problem& problem, const GpuSpec& gpu);

/// The tiling with the number of parts of the keys filled in, where that does depend on tiles: by the algorithm's own
/// rule, if `tiling` leaves it open.
Tiling with_own_parts(Tiling tiling, const Algorithm& algorithm, const Problem& problem, const GpuSpec& gpu);

/// Whether every tile of the program fits on chip with this tiling.
bool fits(const Algorithm& algorithm, const Problem& problem, const Tiling& tiling, const GpuSpec& gpu);

/// The same GPU with unlimited room on chip. A program that looks for room may run differently there.
GpuSpec with_room(GpuSpec gpu, bool sram = true, bool registers = true);

/// The given sizes (0: free to choose) completed by the rule (kernel or paper), halved until all fits. nullopt when
/// nothing does.
std::optional<Tiling> fitting_tiling(const Algorithm& algorithm, const Problem& problem, const Tiling& given,
                                     const GpuSpec& gpu, TileRule rule = TileRule::kernel);

/// A tiling that fits in place of one that does not: it keeps Br, or else Bc, or neither. A size of 1 is not kept,
/// because it was only the last resort.
std::optional<Tiling> nearest_fit(const Algorithm& algorithm, const Problem& problem, const Tiling& tiling,
                                  const GpuSpec& gpu);

/// The best of the search (lab/study/tile_search.hpp). Tiles that were given stay. nullopt where nothing fits without
/// spilling registers. Throws Interrupted.
std::optional<Mapping> best_mapping(const Algorithm& algorithm, const Problem& problem, const Wish& wish,
                                    const GpuSpec& gpu, Control* control = nullptr);

/// The wish, completed. Where nothing fits, it has the smallest tiles there are: running them says what is too large.
Experiment mapped(const Algorithm& algorithm, const Problem& problem, const Wish& wish, const GpuSpec& gpu,
                  Control* control = nullptr);
/// The tiles alone.
Tiling choose_tiling(const Algorithm& algorithm, const Problem& problem, const Wish& wish, const GpuSpec& gpu);

/// A message of several lines: the tiles in the space that is full, the bytes that are missing, and a tiling that fits.
/// `given`: the sizes that the user asked for (0: chosen), where not all were; the message tells the two apart.
std::string explain(const OutOfChipMemory& error, const Algorithm& algorithm, const Problem& problem,
                    const Tiling& tiling, const GpuSpec& gpu, const std::optional<Tiling>& given = std::nullopt);

}  // namespace tilescope::lab
