// What happens, in words. No ImGui.
#pragma once

#include <string>

#include "show/run.hpp"

namespace tilescope::show {

/// One sentence: what this SM did in the tick shown, with names, rows and bytes. "SM 2 loads K, rows 64–127 (8.19 kB),
/// from HBM into SRAM."
std::string what_happens(const Run& run, const SmState& sm);
/// Why, from the pseudo-code line it belongs to; empty outside of any.
std::string why(const Run& run, const SmState& sm);
/// The loop nest as it was folded: one line a level, with how often it runs in the whole run and what is shown of it.
/// {"flash_v2: 128 thread blocks, shown: 16 of head 1", "each visits lines 7–10 (read K_j, V_j from HBM …) × 16"}, say.
std::vector<std::string> loop_nest(const Run& run);
/// The same of one launch.
std::vector<std::string> loop_nest(const Run& run, Index launch);
/// "K", or "K of head 2" where there are several: the part's tensor. Heads count from 1, as in Run::shortened().
std::string tensor_of(const Run& run, const Region& region);
/// "rows 64–127", "rows 64–127, columns 0–63": the part of a tensor, in whole rows where it has whole rows.
std::string rows_of(const Run& run, const Region& region);

}  // namespace tilescope::show
