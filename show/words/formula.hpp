// An operation as it would be written on a blackboard.
#pragma once

#include <string>

#include "show/run/run.hpp"

namespace tilescope::show {

/// What the SM did in the tick shown, tiles named by what they hold: "S ← 0.125 Q K^T", "m ← max(m, rowmax S)", "load K
/// ↑", "make O, l, m".
std::string formula(const Run& run, const SmState& sm);
/// "0.125 scale ": the factors of a product before its operands; empty where there are none.
std::string factor_text(const Run& run, const Event& event);

}  // namespace tilescope::show
