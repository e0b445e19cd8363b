// Which tiles to take, which come next, and why their neighbours lose.
#pragma once

#include "lab/model/published_tiles.hpp"
#include "lab/study/tile_search.hpp"

namespace tilescope::lab {

struct Advice {
    std::vector<Candidate> ranking;  ///< the best first; tiles that were given stay
    Candidate released;              ///< `published`, cut to the problem
    PublishedTiles published;
    std::vector<Candidate> neighbours;  ///< of the best, one step away in each direction
    double floor_us = 0;                ///< microseconds that the busiest unit of the best tiling takes alone
    Unit floor = Unit::tensor;
};

/// Searches for tiles (lab/study/tile_search.hpp) and explains the result. Throws RunError where nothing fits,
/// and Interrupted.
Advice advise(const Algorithm& algorithm, const Problem& problem, const Wish& wish, const GpuSpec& gpu, int threads,
              Control* control = nullptr);

}  // namespace tilescope::lab
