// --model and --phase: a model's numbers for the flags that are not given.
#pragma once

#include "lab/flags/options.hpp"

namespace tilescope::lab {

/// The options with every size, type, mask and scale that --model decides. A given flag keeps its value, also --seq:
/// the length of the prompt (prefill), or of the context to which a token is added (decode). Without --model nothing
/// changes.
Options with_model(Options options);

/// Sizes that are large enough to keep a GPU busy.
inline constexpr Index usual_heads = 64, usual_seq = 4096;
/// The options with `heads` and `seq` where neither flags nor files nor a model decide these sizes.
Options with_usual_sizes(Options options, Index heads = usual_heads, Index seq = usual_seq);

/// "llama-3-70b"; "llama-3-70b (changed)" where other flags differ from the model; empty without a model.
std::string model_asked(const Options& options);
/// "prefill" or "decode"; empty without a model.
std::string phase_asked(const Options& options);

/// UsageError for --model together with files, because files decide the sizes, and for --phase without --model.
void check_model(const Options& options);

}  // namespace tilescope::lab
