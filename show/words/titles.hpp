// The titles of rows and columns beside their numbers.
#pragma once

#include <string>

#include "show/run/session.hpp"

namespace tilescope::show {

/// The word of the sentence at a position; empty where the inputs of what is shown are no sentence.
std::string title_of(const Session& session, Index position);
/// The longest of the titles of so many positions.
std::string longest_title(const Session& session, Index positions);

}  // namespace tilescope::show
