#include "show/words/tour.hpp"

#include "core/machine/counters.hpp"

namespace tilescope::show {
namespace {

constexpr TourStop stops[] = {
    {"memory", "The wall of scores",
     "Every tile of scores lies where its rows of Q and its columns of K cross. A tag is an SM at work; its tip points "
     "to "
     "the tile that comes next. Each dash outside the wall is one trip of a tile between HBM and the SMs: loop order "
     "is "
     "traffic. “Machine”, above, shows the same moment as HBM, SRAM and registers. Click a tile to go to it."},
    {"transport", "Time, under your thumb",
     "Space plays and pauses, ← and → step, and the bar can be dragged anywhere: time runs backwards as well. On the "
     "bar, loads stand above the middle and stores below it."},
    {"code", "What happens, and why",
     "The line that the SM in focus is at is lit, and a sentence says what it did just now. Click beside a line to "
     "stop "
     "there whenever it is reached."},
    {"detail", "The numbers themselves",
     "Values shows the tiles of the SM in focus, number by number. Counters adds up bytes and FLOPs, beside "
     "another algorithm."},
    {"controls", "Try something else",
     "Choose the algorithm, the problem, the tiles and the GPU; everything runs again at once. Race two algorithms, or "
     "take the example “Does not fit” and see which tile is too large."},
};

}  // namespace

std::span<const TourStop> tour_stops() { return stops; }

}  // namespace tilescope::show
