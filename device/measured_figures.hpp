// Figures of the measurements that ship.
#pragma once

#include <span>

#include "lab/figure/kinds.hpp"

namespace tilescope::device {

std::span<const lab::FigureKind> measured_figure_kinds();

}  // namespace tilescope::device
