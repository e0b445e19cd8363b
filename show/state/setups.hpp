// Setups that are ready to show, and changes of a setup that take more than one flag. No ImGui.
#pragma once

#include <vector>

#include "lab/workload/model_presets.hpp"
#include "show/run/session.hpp"

namespace tilescope::show {

/// A setup to begin a lecture with: flags that replace standard ones, for whatever algorithm is chosen.
struct Example {
    const char* name;  ///< a message
    const char* what;  ///< id of a message, one sentence: what the example shows
    std::vector<std::pair<const char*, const char*>> flags;
    bool race = false;  ///< against the first algorithm of the same computation (the last, for the first)
};
const std::vector<Example>& examples();

/// The example for this algorithm, without the flags that mean nothing to what it computes.
Setup setup_of(const Example& example, const std::string& algorithm);

/// What the window shows where no algorithm is named. Where no flag that decides a run is given either, the first
/// lesson: FlashAttention-2 with a causal mask on one short head, whose wall has few tiles. Else what is asked for,
/// with a head dimension as models have it.
Setup first_setup(Setup asked);
/// Where the first lesson begins: in the middle of the fourth key block, with one row block done.
inline constexpr Index first_step = 46;

/// The same setup for another algorithm, without the flags that mean nothing to it. A softmax has no head dimension: a
/// setup that follows one takes the head dimension of first_setup().
Setup with_algorithm(Setup setup, const std::string& algorithm);

/// The same setup for a layer of a model, which decides sizes, type, mask and scale: flags and files that gave these
/// are dropped. Without a model, these are as in the first setup.
Setup with_model_of(Setup setup, const std::string& model, lab::Phase phase);

/// The algorithms that this one can be raced against.
std::vector<const Algorithm*> rivals_of(const Algorithm& algorithm);

}  // namespace tilescope::show
