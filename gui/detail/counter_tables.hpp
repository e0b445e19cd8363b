// What was counted, as tables.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui::detail {

/// Every counter: so far, in the whole run, and in another algorithm's whole run.
void counters_table(Shown& shown, Screen& screen, const Run& run);
/// What the modelled time waits for, and what it rests on; in a race, for both runs.
void verdict_text(const Shown& shown, const Screen& screen, const Run& run);
/// Every tensor in HBM: its bytes, and what was read of it and written to it.
void tensors_table(const Screen& screen, const Run& run);

}  // namespace tilescope::gui::detail
