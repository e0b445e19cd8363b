// A backward pass together with the forward pass before it: what a step of training takes.
#pragma once

#include "lab/model/mapping.hpp"

namespace tilescope::lab {

/// The bytes that the forward pass of this backward pass leaves in HBM besides O: P, or statistics of rows.
Bytes kept_for_backward(const Experiment& backward);

/// The report of both passes: counts and times added up, launches one after the other, and the tensors of both, because
/// none is freed in between. The forward pass has the tiles that the wish's rule chooses for it. Throws Interrupted.
Report with_forward(const Report& backward, const Wish& wish, Control* control = nullptr);

}  // namespace tilescope::lab
