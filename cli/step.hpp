// What `tilescope step` prints.
#pragma once

#include "cli/json.hpp"
#include "lab/flags/request.hpp"
#include "show/stage/lane_walk.hpp"
#include "show/words/steps.hpp"

namespace tilescope::cli {

/// The largest width of the text, where it can be broken.
constexpr std::size_t page_width = 100;

/// Prints what is run, and which steps follow.
void print_heading(const show::Run& run, const lab::Request& request, const show::StepsWanted& wanted, Index first,
                   Index last);
/// Prints the step that the run is at, in a few lines, and what lanes do meanwhile.
void print_step(const show::Run& run, show::LaneWalk& lanes, Index sm);
/// Prints a table with a row for each of the steps.
void print_steps_table(show::Run& run, Index sm, const std::vector<Index>& steps);
/// Prints everything about the step that the run is at.
void print_everything(const show::Run& run, show::LaneWalk& lanes, Index sm);
/// The step that the run is at, as `tilescope step --json` has it.
Json step_json(const show::Run& run, show::LaneWalk& lanes, Index sm);

}  // namespace tilescope::cli
