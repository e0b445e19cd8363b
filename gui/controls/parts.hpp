// The parts of the controls, from top to bottom.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui::controls {

/// The algorithm, and examples, models and scenes that bring all flags.
void algorithm_controls(App& app);
/// Sizes, types, and where the numbers come from.
void problem_controls(App& app);
/// Br and Bc, and the rule that chooses them.
void tile_controls(App& app);
/// The modelled GPU, and what decides DRAM traffic and time.
void gpu_controls(App& app);
/// Seed, scale, softmax.
void data_controls(App& app);

}  // namespace tilescope::gui::controls
