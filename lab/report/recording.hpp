// A recording of a run: `tilescope trace` writes it, the window plays it, and replay() runs its program again.
#pragma once

#include <iosfwd>
#include <memory>

#include "core/record/trace.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// How inputs were made that come from no file.
struct RandomInputs {
    std::uint64_t seed = 0;
    Distribution distribution = Distribution::normal;
};

struct AlgorithmAsRecorded;

struct Recording {
    Experiment experiment;               ///< its algorithm is what the recording says of it: name and pseudo-code
    std::optional<RandomInputs> inputs;  ///< absent without contents, and where inputs came from files
    Trace trace;
    /// The algorithm of that name in this program, which can be run; nullptr where there is none.
    const Algorithm* today = nullptr;
    /// Owns experiment.algorithm where it is not `today`: that has another pseudo-code, or is nullptr.
    std::shared_ptr<const AlgorithmAsRecorded> as_recorded = nullptr;
};

/// The options, with their limits and the room that is reserved in advance cut to what memory there is.
TraceOptions within_memory(TraceOptions options);

/// Throws Interrupted.
void write_recording(std::ostream& out, const Experiment& experiment, const std::optional<RandomInputs>& inputs,
                     const Trace& trace, Control* control = nullptr);
/// UsageError, one line that begins with the path, for what is not a recording; RunError for one beyond memory. Throws
/// Interrupted.
Recording read_recording(const std::string& path, const Control* control = nullptr);
Recording read_recording(std::istream& in, const std::string& name, const Control* control = nullptr);

/// The inputs that were recorded: made again where it is known how, or else as they were. Empty without contents.
Inputs inputs_of(const Recording& recording, Control* control = nullptr);

/// Runs today's program on the recorded inputs and compares: where the two runs first diverge, in one line; empty where
/// nothing differs. UsageError where there is no such algorithm; throws whatever a run throws.
std::string replay(const Recording& recording, Control* control = nullptr);

}  // namespace tilescope::lab
