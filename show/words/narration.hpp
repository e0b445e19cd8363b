// What happens, in words. No ImGui.
#pragma once

#include <string>

#include "show/run/run.hpp"

namespace tilescope::show {

/// One sentence: what this SM did in the tick shown, with names, rows and bytes. "SM 2 loads K, rows 64–127 (8.19 kB),
/// from HBM into SRAM."
std::string what_happens(const Run& run, const SmState& sm);
/// Why this happens, from the pseudo-code line that the SM is on; empty outside of any line.
std::string why(const Run& run, const SmState& sm);
/// "K", or "K of head 2" where there are several: the part's tensor. Heads count from 1, as in Run::shortened().
std::string tensor_of(const Run& run, const Region& region);
/// "rows 64–127", "rows 64–127, columns 0–63": the part of a tensor, without columns where its rows are whole.
std::string rows_of(const Run& run, const Region& region);
/// "64–127"; "64" of one.
std::string numbers_of(Span s);

}  // namespace tilescope::show
