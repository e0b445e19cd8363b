// Which tiles to take, which come next, and why their neighbours lose.
#pragma once

#include "lab/mapping.hpp"
#include "lab/study.hpp"

namespace tilescope::lab {

struct Candidate {
    Outcome outcome;
    double value = 0;       ///< of the objective: microseconds or bytes; infinite where there is none
    std::string name = "";  ///< "released", "taller", "wider", "shorter", "narrower"; empty otherwise
    std::string why = "";   ///< it loses against the best, or cannot be
    Tiling tiling() const { return outcome.experiment.tiling; }
};

struct Advice {
    std::vector<Candidate> ranking;     ///< the best first; tiles that were given stay
    Candidate released;                 ///< the released kernel's tiles
    std::vector<Candidate> neighbours;  ///< of the best, one step away in each direction
    double floor_us = 0;                ///< that the best's busiest unit takes alone
    Unit floor = Unit::tensor;
};

/// Tiles of multiples of 16 up to 128, of 32 up to 256 and of 64 up to 512, none that would spill registers. Throws
/// RunError where none fits, and Interrupted.
Advice advise(const Algorithm& algorithm, const Problem& problem, const Wish& wish, const GpuSpec& gpu, int threads,
              Control* control = nullptr);

}  // namespace tilescope::lab
