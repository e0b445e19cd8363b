// Inputs as they were before they were rounded to 8 bits.
#pragma once

#include "algorithms/contract/computation.hpp"

namespace tilescope {

/// The name under which Inputs have the values of a tensor before these were rounded to 8 bits.
std::string exact_name(std::string_view tensor);
/// The values that references compute with: those before rounding, or else those that are stored.
const Storage& exact(const Inputs& inputs, std::string_view tensor);

}  // namespace tilescope
