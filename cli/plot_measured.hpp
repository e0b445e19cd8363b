// Figures of the measurements that ship; lab/figure cannot have them, because it knows no device.
#pragma once

#include <span>

#include "lab/figure/kinds.hpp"

namespace tilescope::cli {

std::span<const lab::FigureKind> measured_figure_kinds();

}  // namespace tilescope::cli
