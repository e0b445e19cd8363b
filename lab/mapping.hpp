// Choosing tiles: the paper's rule, and making it fit.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "core/machine/out_of_chip_memory.hpp"

namespace tilescope::lab {

/// Throws BadValue where a size that is given (not 0) cannot be one of a tile.
void validate(const Tiling& given, const Problem& problem);

/// FlashAttention (arXiv 2205.14135), Algorithm 1, line 1, with M the SRAM of a thread block in elements:
/// Bc = ceil(M / 4d), Br = min(Bc, d); rounded down to multiples of 16 and cut to the problem.
Tiling paper_rule(const Problem& problem, const GpuSpec& gpu);

/// Whether every tile of the program fits on chip with this tiling.
bool fits(const Algorithm& algorithm, const Problem& problem, const Tiling& tiling, const GpuSpec& gpu);

/// The given sizes (0: free to choose) completed to a tiling that fits, starting from the paper's rule and halving.
/// nullopt when none does.
std::optional<Tiling> fitting_tiling(const Algorithm& algorithm, const Problem& problem, const Tiling& given,
                                     const GpuSpec& gpu);

/// The same, checked; where nothing fits, the smallest there is: its run says what is too large.
Tiling choose_tiling(const Algorithm& algorithm, const Problem& problem, const Tiling& given, const GpuSpec& gpu);

/// Many lines for a person: what lives in the full space, what is missing, and a tiling that fits.
std::string explain(const OutOfChipMemory& error, const Algorithm& algorithm, const Problem& problem,
                    const Tiling& tiling, const GpuSpec& gpu);

}  // namespace tilescope::lab
