// The parts of the controls, from top to bottom.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui::controls {

/// The algorithm, and examples, models and scenes that bring all flags.
void algorithm_controls(Shown& shown, Screen& screen);
/// Sizes, types, and where the numbers come from.
void problem_controls(Shown& shown, Screen& screen);
/// Br and Bc, and the rule that chooses them.
void tile_controls(Shown& shown, Screen& screen);
/// The modelled GPU, and what decides DRAM traffic and time.
void gpu_controls(Shown& shown, Screen& screen);
/// Seed, scale, softmax.
void data_controls(Shown& shown, Screen& screen);

}  // namespace tilescope::gui::controls
