// Whether a modelled time is warm: a repeated run finds in the L2 what the run before has left there.
#pragma once

#include <string>

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// The share of cold DRAM traffic that a repeated run saves because the L2 has kept what the run touches; 0 where not
/// all tensors have room in the L2.
double kept_by_l2(const Report& report);
inline constexpr double nearly_all_kept = 0.95;
/// Whether kept_by_l2() is more than half.
bool is_warm(const Report& report);
/// How a message describes DRAM traffic beside a warm time.
std::string cold_traffic();
/// "The time is warm: ..."; empty where the time is not warm, or there is no time.
std::string about_warm(const Report& report);

}  // namespace tilescope::lab
