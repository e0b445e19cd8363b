// Reads words for values that are enumerators in C++.
#pragma once

#include <string>

#include "algorithms/contract/computation.hpp"
#include "core/machine/tile.hpp"
#include "python/bindings/bindings.hpp"

namespace tilescope::python {

/// The value of a word. UsageError, which names the field, for an unknown word.
Dtype dtype_of(const std::string& word);
Space space_of(const std::string& word);
Trans trans_of(const std::string& word);
Role role_of(const std::string& word);
Meaning meaning_of(const std::string& word);
Sliced sliced_of(const std::string& word);
Feature feature_of(const std::string& word);
const Computation& computation_of(const std::string& word);

}  // namespace tilescope::python
