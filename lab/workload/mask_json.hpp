// A mask in JSON: bounds of a window, lengths of documents, and blocks as strings of 0 and 1.
#pragma once

#include "algorithms/contract/mask.hpp"
#include "core/record/json_entry.hpp"

namespace tilescope::lab {

/// The object has only the members that the mask needs: none for a mask that hides nothing.
Json to_json(const Mask& mask);
Mask mask_from(JsonEntry entry, const std::string& file);

}  // namespace tilescope::lab
