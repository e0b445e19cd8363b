// One-line descriptions that several subcommands and the window print.
#pragma once

#include <string>

#include "lab/flags/request.hpp"

namespace tilescope::lab {

/// "batch 1, heads 8, seq 1024, dim 64, f16, scale 0.125"
std::string describe(const Problem& problem, const Computation& computation);
/// What the problem does to scores, each after a comma: ", soft-cap 50, ALiBi"; empty where it does nothing to them.
std::string about_scores(const Problem& problem);
/// The description of the problem after its model: "llama-3-70b, decode: batch 1, heads 64 (8 of K, V), ..."
std::string describe(const Request& request, const Computation& computation);
/// "NVIDIA A100 ...: 108 SMs, 163 KiB of SRAM per thread block, ..."
std::string describe(const GpuSpec& gpu);

/// The bytes that the paper counts for a run beside the bytes that were counted here, and why they differ if they do.
/// Empty where the paper counts nothing.
std::string beside_ideal(const Report& report);

}  // namespace tilescope::lab
