// Choosing tiles, and how many thread blocks share an SM: as published, by the paper's rule, or the best there are.
#pragma once

#include "core/machine/out_of_chip_memory.hpp"
#include "lab/experiment.hpp"
#include "lab/packing.hpp"
#include "lab/splits.hpp"

namespace tilescope::lab {

/// Where tiles come from that the user leaves open.
enum class TileRule : std::uint8_t {
    kernel,  ///< lab/published_tiles.hpp
    paper,   ///< paper_rule()
    best,    ///< a search for the least of an objective
    common,  ///< one tiling for all algorithms, FlashAttention-2's, but for those of tiled products: `compare`'s
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

/// "Br 128, Bc 64, S 8": what the algorithm's knobs are turned to.
std::string tiles_text(const Experiment& experiment);

/// Throws BadValue where a size that is given (not 0) cannot be one of a tile.
void validate(const Tiling& given, const Problem& problem);

/// FlashAttention (arXiv 2205.14135), Algorithm 1, line 1, with M the SRAM of a thread block in elements:
/// Bc = ceil(M / 4d), Br = min(Bc, d); rounded down to multiples of 16 (above 16) and cut to the problem.
Tiling paper_rule(const Problem& problem, const GpuSpec& gpu);

/// The wish with the parts of the keys chosen, where that does not depend on tiles; none where the algorithm has no
/// such knob.
Wish with_splits(Wish wish, const Algorithm& algorithm, const Problem& problem, const GpuSpec& gpu);

/// The tiling with the parts of the keys chosen where that does depend on tiles: by the algorithm's own rule, if they
/// are left open.
Tiling with_own_parts(Tiling tiling, const Algorithm& algorithm, const Problem& problem, const GpuSpec& gpu);

/// Whether every tile of the program fits on chip with this tiling.
bool fits(const Algorithm& algorithm, const Problem& problem, const Tiling& tiling, const GpuSpec& gpu);

/// The same GPU with endless room on chip. Not the same run where the program looks for room.
GpuSpec with_room(GpuSpec gpu, bool sram = true, bool registers = true);

/// The given sizes (0: free to choose) completed by the rule (kernel or paper), halved until all fits. nullopt when
/// nothing does.
std::optional<Tiling> fitting_tiling(const Algorithm& algorithm, const Problem& problem, const Tiling& given,
                                     const GpuSpec& gpu, TileRule rule = TileRule::kernel);

/// What fits in place of a tiling that does not: with its Br, or else its Bc, or neither. A size of 1 was chosen for
/// want of a better one, and is not kept.
std::optional<Tiling> nearest_fit(const Algorithm& algorithm, const Problem& problem, const Tiling& tiling,
                                  const GpuSpec& gpu);

/// The best of the search (lab/tile_search.hpp). Tiles that were given stay. The user can interrupt it. nullopt when
/// nothing fits without spilling registers.
std::optional<Mapping> best_mapping(const Algorithm& algorithm, const Problem& problem, const Wish& wish,
                                    const GpuSpec& gpu, Control* control = nullptr);

/// What the user wishes, completed; where nothing fits, the smallest tiles there are: their run says what is too large.
Experiment mapped(const Algorithm& algorithm, const Problem& problem, const Wish& wish, const GpuSpec& gpu,
                  Control* control = nullptr);
/// The tiles alone.
Tiling choose_tiling(const Algorithm& algorithm, const Problem& problem, const Wish& wish, const GpuSpec& gpu);

/// Many lines for a person: what lives in the full space, what is missing, and a tiling that fits. `given` is what was
/// asked for, where that is not all of the tiling (0: chosen); then what was chosen is told apart from it.
std::string explain(const OutOfChipMemory& error, const Algorithm& algorithm, const Problem& problem,
                    const Tiling& tiling, const GpuSpec& gpu, const std::optional<Tiling>& given = std::nullopt);

}  // namespace tilescope::lab
