// What `tilescope step` prints.
#pragma once

#include "cli/json.hpp"
#include "lab/flags/request.hpp"
#include "show/words/steps.hpp"

namespace tilescope::cli {

/// How wide the text is at most, where it can be broken.
constexpr std::size_t page_width = 100;

/// What is run, and which steps there are to see.
void print_heading(const show::Run& run, const lab::Request& request, const show::StepsWanted& wanted, Index first,
                   Index last);
/// The step that the run is at, in a few lines.
void print_step(const show::Run& run, Index sm);
/// A row for each of these steps.
void print_steps_table(show::Run& run, Index sm, const std::vector<Index>& steps);
/// All that there is to say of the step that the run is at.
void print_everything(const show::Run& run, Index sm);
/// The step that the run is at.
Json step_json(const show::Run& run, Index sm);

}  // namespace tilescope::cli
