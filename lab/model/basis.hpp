// What a modelled time rests on: which kernels were measured, on which machines.
#pragma once

#include <string>

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// Whether the measurements that ship with TileScope were made on this very machine: errors are stated for no other.
bool was_measured(const GpuSpec& gpu);
/// Sets the basis of a run whose launches are timed, and the error where one is stated.
void set_basis(RunTime& run, const Experiment& experiment);
/// The basis, in a sentence.
std::string basis(const RunTime& run, const Experiment& experiment);
/// "1 x 64 as 128 x 64": the tile as cut to the problem, and the kernel's tile, which is timed; empty if none is cut.
std::string about_cut_tile(const RunTime& run, const Experiment& experiment);

}  // namespace tilescope::lab
