// --model and --phase: a model's numbers where the other flags are silent.
#pragma once

#include "lab/flags/options.hpp"

namespace tilescope::lab {

/// The options with every size, type, mask and scale that --model decides. A given flag keeps its value; so does --seq,
/// the length of the prompt (prefill) or of the context that a token is added to (decode). Without --model nothing
/// changes.
Options with_model(Options options);

/// Sizes that are large enough to keep a GPU busy.
inline constexpr Index usual_heads = 64, usual_seq = 4096;
/// The options with so many heads and this length where neither flags nor files nor a model say otherwise.
Options with_usual_sizes(Options options, Index heads = usual_heads, Index seq = usual_seq);

/// "llama-3-70b"; "llama-3-70b (changed)" where flags say otherwise than the model does; empty without one.
std::string model_asked(const Options& options);
/// "prefill" or "decode"; empty without a model.
std::string phase_asked(const Options& options);

/// UsageError for --model beside files, which bring their own sizes, and for --phase without a model.
void check_model(const Options& options);

}  // namespace tilescope::lab
