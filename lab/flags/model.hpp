// --model and --phase: a model's numbers where the other flags are silent.
#pragma once

#include "lab/flags/options.hpp"

namespace tilescope::lab {

/// The options with every size, type, mask and scale that --model decides. A flag that was given stays what it is; so
/// does --seq: how long the prompt is (prefill), or the context that a token is added to (decode). Without --model
/// they are what they were.
Options with_model(Options options);

/// Sizes at which GPUs have something to do.
inline constexpr Index usual_heads = 64, usual_seq = 4096;
/// The options with so many heads and this length where neither flags nor files nor a model say otherwise.
Options with_usual_sizes(Options options, Index heads = usual_heads, Index seq = usual_seq);

/// "llama-3-70b"; "llama-3-70b (changed)" where flags say otherwise than the model does; empty without one.
std::string model_asked(const Options& options);
/// "prefill" or "decode"; empty without a model.
std::string phase_asked(const Options& options);

/// UsageError where --model has no part: beside files, which bring their own sizes; and for a --phase of no model.
void check_model(const Options& options);

}  // namespace tilescope::lab
