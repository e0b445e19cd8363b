// Registers of a thread, as compiled or by a rule.
#pragma once

#include <cstdint>
#include <vector>

#include "core/record/outline.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

struct Registers {
    Index per_thread;  ///< at most 255, and at most a thread's share of an SM's
    bool compiled;     ///< known from a compiled kernel; else by the rule
    bool spills;       ///< the rule gives more than a thread may have
};

/// What a full thread block of a launch holds.
struct HeldRows {
    Index rows = 0;       ///< of all row tiles that the block works on together
    Bytes registers = 0;  ///< bytes: the most that the tiles of its program take at a time
};

enum class RegistersFrom : std::uint8_t { compiler, rule };

/// The registers of a launch of the algorithm's kernel with `warps` warps: as compiled, where that is known and asked
/// for; else by a rule. On CUDA cores: 68, plus 24 per product in the program, plus 3/4 of the scores (or of a chunk of
/// rows) and 5/4 of the accumulators that a thread keeps; fitted to the compiled kernels here. At least what the
/// program's own tiles take.
Registers registers_of(const Experiment& experiment, const LaunchOutline& launch, Index warps, const HeldRows& held,
                       RegistersFrom from = RegistersFrom::compiler);
/// The tilings for which the algorithm's kernel was compiled, with the experiment's dimensions and type.
std::vector<Tiling> compiled_tiles(const Experiment& experiment);
/// By the rule, on tensor cores: the elements of S and O that a thread keeps, plus 63.
Registers tensor_core_registers(const Experiment& experiment, Index warps, const HeldRows& held);

}  // namespace tilescope::lab
