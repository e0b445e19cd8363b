// HBM as a tank.
#pragma once

#include "gui/draw/canvas.hpp"
#include "show/run/spill.hpp"

namespace tilescope::gui::machine {

using show::Spill;

/// The tensors piled up in HBM and above its rim, to one scale; the bytes that are too many, and what takes them.
void draw_spill(const Canvas& canvas, const Spill& spill, const Box& area);

}  // namespace tilescope::gui::machine
