// What `tilescope validate` is asked for: which kernels run on which problems.
#pragma once

#include "device/device.hpp"
#include "device/kernel_case.hpp"
#include "lab/flags/request.hpp"

namespace tilescope::device {

struct ValidateFlags {
    lab::Options options;
    std::vector<std::string> algorithms;
    std::string survey;  ///< "", "quick" or "full"
    std::string part;    ///< "" or "k/n"
    bool all_tiles = false, counters = false, launch_only = false;
    std::string csv;
    Index repeats = 20;
};

struct ValidateRequest {
    std::vector<KernelCase> cases;
    std::vector<std::string> left_out;  ///< algorithms that were not named and have no kernel for the problem
    GpuSpec gpu;
    Inputs inputs;              ///< from files; empty without
    std::size_t file_rank = 0;  ///< how many dimensions the Q (or X) file has
    std::string remark;         ///< on the inputs
    std::vector<std::string> notes;
    lab::Distribution distribution = lab::Distribution::normal;
};

/// The first flag, as given, that asks for a mask (but the causal one), a bias or the like; "" where there is none.
std::string score_flag(const lab::Options& options);

/// Checks every flag. Kernels that the device cannot run are left out; without one, those of a Hopper GPU are asked
/// for. Throws UsageError, Interrupted.
ValidateRequest resolve(const ValidateFlags& flags, const std::optional<Device>& device, Control* control);

}  // namespace tilescope::device
