// A backward pass together with the forward pass that it begins with: what a step of training takes.
#pragma once

#include "lab/mapping.hpp"

namespace tilescope::lab {

/// Of a backward pass: bytes that its forward pass leaves in HBM for it, besides O: P, or statistics of rows.
Bytes kept_for_backward(const Experiment& backward);

/// The report of both: counts and times added up, launches one after the other, tensors of either, none of which is
/// given back in between. The forward pass has the tiles that the wish's rule chooses for it. Throws Interrupted.
Report with_forward(const Report& backward, const Wish& wish, Control* control = nullptr);

}  // namespace tilescope::lab
