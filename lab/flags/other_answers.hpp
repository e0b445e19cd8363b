// Where other libraries answer differently.
#pragma once

#include <string>
#include <vector>

#include "lab/flags/request.hpp"

namespace tilescope::lab {

/// What other libraries make of this problem where their answer differs, a sentence each: another corner of a causal
/// mask, other outputs of queries that see no key.
std::vector<std::string> other_answers(const Problem& problem, const GpuSpec& gpu);

/// The request's notes, and other_answers() where attention is computed forward.
std::vector<std::string> notes_on(const Request& request, const Computation& computation);

}  // namespace tilescope::lab
