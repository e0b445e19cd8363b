// The one search for tiles: behind `advise`, `--tiles best` and the best of the plane.
#pragma once

#include "lab/model/mapping.hpp"
#include "lab/study/study.hpp"

namespace tilescope::lab {

/// What decides a tiling's rank.
struct Standing {
    double value = 0;       ///< of the objective: microseconds or bytes; infinite where there is none
    double us = 0;          ///< the time, where it is known
    bool released = false;  ///< the tiles of the released kernel
    Bytes traffic = 0;      ///< SM traffic
    Tiling tiling;
};
/// Whether `a` ranks before `b`; `least`: the least value of all. The least value comes first, but bytes within 1% of
/// `least` count as equal. Among equals the least time comes first, then the released kernel's tiles, then the least SM
/// traffic, then the smallest tiles.
bool comes_before(const Standing& a, const Standing& b, double least, Objective objective);

/// Tile sizes that a kernel could have on an axis of `rows` rows: multiples of 16 up to 512, or all rows; on a GPU
/// without a compute capability ("toy"), all of plane_sizes(). Where `given` is not 0, that size alone.
std::vector<Index> tile_sizes(Index given, Index rows, const GpuSpec& gpu);

struct Candidate {
    Outcome outcome;
    double value = 0;       ///< of the objective; infinite where there is none
    std::string name = "";  ///< "released", "taller", "wider", "shorter", "narrower"; empty otherwise
    std::string why = "";   ///< why it loses against the best, or is impossible
    Tiling tiling() const { return outcome.experiment.tiling; }
};
Candidate candidate_of(const Experiment& experiment, Objective objective, Control* control = nullptr);
Standing standing_of(const Report& report, double value);

/// What a search is about: the algorithm, the problem, the wish with the number of parts of the keys, and the GPU.
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

    /// Whether Br or Bc is left to choose.
    bool choice() const { return wish.tiling.br == 0 || wish.tiling.bc == 0; }
    Tiling tiles(Index br, Index bc) const {
        Tiling t = wish.tiling;
        t.br = br, t.bc = bc;
        return completed(t, algorithm, problem, gpu);
    }
    Experiment with(const Tiling& t) const { return {&algorithm, problem, t, gpu, wish.placing}; }
};

struct Ranking {
    /// The tilings that were timed with the L2, the best first: all that could be the best, and some more. All fit on
    /// chip. Unless no tile is left to choose, none would spill registers, and an SM has room for each.
    std::vector<Candidate> tiles;
    /// Why an SM has no room for a thread block of the first tiling that fits on chip and would not spill, but lacks
    /// that room; empty where there is none. It explains an empty ranking.
    std::string no_room = "";
};
Ranking ranked_tiles(const Sought& sought);

}  // namespace tilescope::lab
