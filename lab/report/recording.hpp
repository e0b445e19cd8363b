// A recording of a run: `tilescope trace` writes it, the window plays it, and replay() runs its program again.
#pragma once

#include <iosfwd>
#include <memory>

#include "core/record/trace.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// How inputs were made, unless they came from files.
struct RandomInputs {
    std::uint64_t seed = 0;
    Distribution distribution = Distribution::normal;
};

struct AlgorithmAsRecorded;

struct Recording {
    Experiment experiment;               ///< its algorithm has the recorded name and pseudo-code
    std::optional<RandomInputs> inputs;  ///< absent without contents of tiles, or where inputs came from files
    Trace trace;
    /// The algorithm of that name in this program, which can be run; nullptr where there is none.
    const Algorithm* today = nullptr;
    /// Owns experiment.algorithm where `today` has another pseudo-code or is nullptr; else nullptr.
    std::shared_ptr<const AlgorithmAsRecorded> as_recorded = nullptr;
};

/// The options, with limits and reserved room cut to the memory that is left.
TraceOptions within_memory(TraceOptions options);

/// Throws Interrupted.
void write_recording(std::ostream& out, const Experiment& experiment, const std::optional<RandomInputs>& inputs,
                     const Trace& trace, Control* control = nullptr);
/// Throws UsageError (one line that begins with the path) where the file is no recording, RunError where it does not
/// fit in memory, and Interrupted.
Recording read_recording(const std::string& path, const Control* control = nullptr);
Recording read_recording(std::istream& in, const std::string& name, const Control* control = nullptr);

/// The inputs of the recorded run: made again from their seed where it is known, or else as recorded. Empty where the
/// recording has no contents of tiles.
Inputs inputs_of(const Recording& recording, Control* control = nullptr);

/// Runs today's program on the recorded inputs, and says in one line where the two runs first diverge; empty where
/// nothing differs. Throws UsageError where today's program has no such algorithm, and whatever a run throws.
std::string replay(const Recording& recording, Control* control = nullptr);

}  // namespace tilescope::lab
