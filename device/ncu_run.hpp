// Running this program under Nsight Compute.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/machine/gpu.hpp"
#include "core/machine/mode.hpp"
#include "device/ncu.hpp"

namespace tilescope::device {

/// The message that says how to get ncu.
inline constexpr const char* how_to_get_ncu = "ncu.how_to_get";
/// Throws RunError, saying how to get it, when there is no ncu on PATH.
void require_ncu();

/// Runs this executable with `arguments` under ncu and returns what it measured, in launch order. `launches` has
/// the number of launches so far. Throws RunError with one line for whatever goes wrong, and Interrupted.
std::vector<NcuLaunch> run_ncu(const std::vector<std::string>& arguments, Control* control,
                               std::atomic<Index>* launches);

}  // namespace tilescope::device
