// The one search for tiles: behind `advise`, `--tiles best` and the best of the plane.
#pragma once

#include "lab/mapping.hpp"
#include "lab/study.hpp"

namespace tilescope::lab {

/// What of a tiling decides between it and others.
struct Standing {
    double value = 0;       ///< of the objective: microseconds or bytes; infinite where there is none
    double us = 0;          ///< the time, where it is known
    bool released = false;  ///< the tiles of the released kernel
    Bytes traffic = 0;      ///< of SMs
    Tiling tiling;
};
/// Whether `a` is to be taken before `b`; `least`: of all values. The least value first. Bytes within 1% of the least
/// are as few: of those the least time. Of what is equal in that, too, the released kernel's tiles, then those with the
/// least SM traffic, then the smallest.
bool comes_before(const Standing& a, const Standing& b, double least, Objective objective);

/// Sizes of tiles that a kernel could have on an axis of so many rows: multiples of 16 up to 512, or all rows; on a GPU
/// that is none, any. The given one alone where there is one.
std::vector<Index> tile_sizes(Index given, Index rows, const GpuSpec& gpu);

struct Candidate {
    Outcome outcome;
    double value = 0;       ///< of the objective; infinite where there is none
    std::string name = "";  ///< "released", "taller", "wider", "shorter", "narrower"; empty otherwise
    std::string why = "";   ///< it loses against the best, or cannot be
    Tiling tiling() const { return outcome.experiment.tiling; }
};
Candidate candidate_of(const Experiment& experiment, Objective objective, Control* control = nullptr);
Standing standing_of(const Report& report, double value);

/// The tilings that were timed with the L2, the best first: as many as could be the best, and some more. All of them
/// fit, and none would spill registers, unless no tile is left to choose. Empty where there is none.
std::vector<Candidate> ranked_tiles(const Algorithm& algorithm, const Problem& problem, const Wish& wish,
                                    const GpuSpec& gpu, int threads = 1, Control* control = nullptr);

}  // namespace tilescope::lab
