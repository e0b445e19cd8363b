// One kernel on one problem: what is run, checked and measured.
#pragma once

#include <string>
#include <vector>

#include "algorithms/cuda/registry.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::device {

struct KernelCase {
    const Algorithm* algorithm = nullptr;
    const KernelVariant* variant = nullptr;
    Problem problem;   ///< as the kernel runs it: with packed heads, where it packs them
    Index splits = 0;  ///< parts of the keys, where the algorithm cuts them: a variant serves any number

    Tiling tile() const {
        Tiling t = variant->tile;
        return t.splits = splits, t;
    }
};

/// The case as an experiment of the simulator.
lab::Experiment experiment_of(const KernelCase& c, const GpuSpec& gpu);

/// The command that runs this case: "tilescope validate flash_v2 --batch 1 ...".
std::string command_of(const KernelCase& c);

/// The knobs of roles that are a kernel's own choice: all but --like, which names another library's kernel.
std::vector<const Knob*> chosen_roles();
/// A choice of roles as its flag takes it: "on", "4"; "" where the kernel chooses none.
std::string role_in_words(const Algorithm& algorithm, const Tiling& tile, Index Tiling::*knob);

/// In which roles of its warps a kernel differs from the first one with its tiles, which runs where no flag asks for
/// another: "turns off, overlap off"; or "".
std::string other_roles(const Algorithm& algorithm, const KernelVariant& variant);

/// The flags of a workload except those for sizes and type: "--causal", "--window-left 70 --bias hqk"; or "".
std::string score_options(const Problem& problem);

/// Whether two cases compute the same, and can share inputs and reference.
bool same_problem(const KernelCase& a, const KernelCase& b);

/// What a tensor takes of device memory, laid out as DeviceLayout says.
Bytes device_bytes(const TensorDecl& tensor);
/// What inputs, outputs and scratch take of device memory.
Bytes device_bytes(const KernelCase& c);

}  // namespace tilescope::device
