// The texts above the wall: which way painters go, what travels and what stays, and why.
#pragma once

#include <string>
#include <vector>

#include "show/stage/wall.hpp"
#include "show/words/sentence.hpp"

namespace tilescope::show {

/// Whether a painter paints in this step.
bool is_at_work(const Painter& painter);

/// The finding: which way painters go, what comes for every tile and what stays. Where painters differ, the text is
/// about the SM in focus.
Sentence wall_headline(const Run& run, const Wall& wall, const std::vector<Painter>& painters, Index focus);
/// Why the finding is so, or what follows from it for the whole run.
std::string wall_reason(const Run& run, const Wall& wall);

/// The scores that a painter has on chip, in a pass that needs those of an earlier one: "P recomputed, dS", "P, dS".
std::vector<std::string> scores_on_chip(const Run& run, const Wall& wall, const Painter& painter);

}  // namespace tilescope::show
