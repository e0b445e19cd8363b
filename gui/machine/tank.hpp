// HBM as a tank.
#pragma once

#include "gui/draw/canvas.hpp"
#include "show/run/spill.hpp"

namespace tilescope::gui::machine {

using show::Spill;

/// The tensors piled up in HBM and above its rim, to one scale, with how much is too much and what takes it.
void draw_spill(const Canvas& canvas, const Spill& spill, const Box& area);

}  // namespace tilescope::gui::machine
