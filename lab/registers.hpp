// Registers of a thread, as compiled or by a rule.
#pragma once

#include "core/record/outline.hpp"
#include "lab/experiment.hpp"

namespace tilescope::lab {

struct Registers {
    Index per_thread;  ///< at most 255, and a thread's part of what an SM has
    bool compiled;     ///< of a kernel that there is; else by the rule
    bool spills;       ///< the rule has more than a thread may have
};

/// What a full thread block of a launch has.
struct Held {
    Index rows = 0;       ///< of all the row tiles that it works on together
    Bytes registers = 0;  ///< the most that the tiles of its program take at a time
};

/// Of a launch of the algorithm's kernel with so many warps: as compiled, or estimated.
Registers registers_of(const Experiment& experiment, const LaunchOutline& launch, Index warps, const Held& held);
/// Br and Bc that a kernel of the algorithm was compiled for, for these dimensions and this type.
std::vector<Tiling> compiled_tiles(const Experiment& experiment);
/// By a rule, whatever was compiled. On CUDA cores 68, 24 for every product in the program, and of what a thread keeps
/// 3/4 of scores (or of a chunk of rows) and 5/4 of accumulators; fitted to the compiled kernels here. No fewer than
/// the program's own tiles take.
Registers estimated_registers(const Experiment& experiment, const LaunchOutline& launch, Index warps, const Held& held);
/// On tensor cores: what a thread keeps of S and O of the rows, and 63 more.
Registers tensor_core_registers(const Experiment& experiment, Index warps, const Held& held);

}  // namespace tilescope::lab
