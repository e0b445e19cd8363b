// One-line descriptions that several subcommands and the window print.
#pragma once

#include <string>

#include "lab/flags/request.hpp"

namespace tilescope::lab {

/// "batch 1, heads 8, seq 1024, dim 64, f16, scale 0.125"
std::string describe(const Problem& problem, const Computation& computation);
/// What is done to scores, with a comma before each: ", soft-cap 50, ALiBi"; empty where nothing is.
std::string about_scores(const Problem& problem);
/// The same, after the model that it is a layer of: "llama-3-70b, decode: batch 1, heads 64 (8 of K, V), ..."
std::string describe(const Request& request, const Computation& computation);
/// "NVIDIA A100 ...: 108 SMs, 163 KiB of SRAM per thread block, ..."
std::string describe(const GpuSpec& gpu);

/// What the paper counts for a run, beside what was executed here, and why that differs where it does; empty where it
/// counts nothing.
std::string beside_ideal(const Report& report);

}  // namespace tilescope::lab
