// Why hardware counters say more than the model: amounts that follow from the shape, the tiles and the kernels'
// sources. scripts/validation has the same formulas, and docs/validation.md explains them.
#pragma once

#include <vector>

#include "lab/run/experiment.hpp"

namespace tilescope::device {

/// What is counted by the model and by the hardware.
enum class Counted : std::uint8_t { reads, writes, exponentials, fma_flops };

struct Cause {
    const char* name;   ///< in JSON
    const char* title;  ///< the message that names it
    Count amount;       ///< bytes or operations beyond the model's
};

/// Whether the causes below are known: there is a kernel here of that algorithm and type.
bool has_causes(const lab::Experiment& experiment);

/// The causes of a difference, also those that amount to 0; none where has_causes() is false. `beyond` is the
/// difference itself: it tells which of two codes the compiler made of a tensor-core kernel.
std::vector<Cause> causes_of(Counted what, const lab::Experiment& experiment, double beyond);

}  // namespace tilescope::device
