// A run told step by step: which steps of an SM are told, and what is told of each.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "show/run/run.hpp"

namespace tilescope::show {

/// Which of the steps in which an SM does something.
struct StepsWanted {
    Index sm = 0;
    std::optional<Index> launch = {}, block = {};  ///< of one launch; of one thread block of it
    std::optional<std::uint16_t> line = {};        ///< on one line of the pseudo-code
    Index from = 0, to = std::numeric_limits<Index>::max();
};
/// The numbers of these steps, in order. A launch is a step of every SM, and so is step 0, before the first launch.
std::vector<Index> steps_of(const Run& run, const StepsWanted& wanted);

/// What is told of the step shown.
struct StepText {
    Index step;
    std::uint16_t line;     ///< 0: none
    std::string where;      ///< "block 3 · line 8 · head 1 of 8, i = 3 of 16, j = 2 of 16"
    std::string code;       ///< of the line, without its indentation
    std::string formula;    ///< empty where there is no operation
    std::string happening;  ///< one sentence
    std::string why;        ///< of the line; may be empty
};
StepText step_text(const Run& run, const SmState& sm);

/// The iteration of every loop around the step, from the grid inwards: "head 1 of 8, i = 3 of 16, j = 2 of 16".
std::string loop_position(const Run& run, const SmState& sm);
/// The same for little room: "3,2" where it is at i = 3 and j = 2, "3" before it has a j.
std::string short_position(const Run& run, const SmState& sm);
/// The longest short_position() of the run: that of the last tile.
std::string longest_position(const Run& run);
/// "SM traffic so far, of all SMs: 1.02 kB read, 64 B written; 512 FLOPs".
std::string traffic_so_far(const Run& run);
/// The tile that the operation of the step wrote, or that it stored; nullptr where there is none on chip.
const TileState* tile_written(const Run& run, const SmState& sm);
/// "Fails after operation 12, in thread block 0, on line 7: ...".
std::string failure_text(const Run& run);

}  // namespace tilescope::show
