// How far the output is from the reference, on its way there.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui::detail {

/// The error of the output tile of this SM, tick by tick, and of all rows that were stored.
void error_plot(const Shown& shown, const Screen& screen, const Run& run, const SmState& sm, ImVec2 at, ImVec2 size);

}  // namespace tilescope::gui::detail
