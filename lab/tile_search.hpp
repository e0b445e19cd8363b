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

/// What tiles are sought for, and in how many parts the keys are.
struct Sought {
    Sought(const Algorithm& a, const Problem& p, const Wish& wished, const GpuSpec& on, int threads_ = 1,
           Control* control_ = nullptr)
        : algorithm(a),
          problem(p),
          wish(with_splits(wished, a, p, on)),
          gpu(on),
          threads(threads_),
          control(control_) {}

    const Algorithm& algorithm;
    const Problem& problem;
    const Wish wish;
    const GpuSpec& gpu;
    const int threads;
    Control* const control;

    /// Whether a tile is left to choose.
    bool choice() const { return wish.tiling.br == 0 || wish.tiling.bc == 0; }
    Tiling tiles(Index br, Index bc) const {
        return with_own_parts({br, bc, wish.tiling.splits}, algorithm, problem, gpu);
    }
    Experiment with(const Tiling& t) const { return {&algorithm, problem, t, gpu, wish.placing}; }
};

struct Ranking {
    /// Those that were timed with the L2, the best first: as many as could be the best, and some more. All of them fit,
    /// and none would spill registers or have no room on an SM, unless no tile is left to choose.
    std::vector<Candidate> tiles;
    /// Why an SM has no room for the first tiles that fit and would not spill, and that it has no room for; empty where
    /// there are none. The reason for an empty ranking.
    std::string no_room = "";
};
Ranking ranked_tiles(const Sought& sought);

}  // namespace tilescope::lab
