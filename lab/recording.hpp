// A recording and what it is of: what `tilescope trace` writes, and what can be played, and carried out again.
#pragma once

#include <iosfwd>
#include <memory>

#include "core/record/trace.hpp"
#include "lab/experiment.hpp"

namespace tilescope::lab {

/// How inputs were made that need no file.
struct RandomInputs {
    std::uint64_t seed = 0;
    Distribution distribution = Distribution::normal;
};

struct AlgorithmAsRecorded;

struct Recording {
    Experiment experiment;               ///< its algorithm is what the recording says of it: name and pseudo-code
    std::optional<RandomInputs> inputs;  ///< absent without contents, and where inputs came from files
    Trace trace;
    /// Today's algorithm of that name, which can be carried out; nullptr where there is none.
    const Algorithm* today = nullptr;
    /// What experiment.algorithm is where it is not today's.
    std::shared_ptr<const AlgorithmAsRecorded> as_recorded = nullptr;
};

/// The same with no higher limits, and no more room made ahead, than there is memory for.
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

/// What today's program does where `recording` was made, compared with it: where they diverge first, in one line; empty
/// where nothing differs. UsageError where there is no such algorithm; whatever a run throws.
std::string replay(const Recording& recording, Control* control = nullptr);

}  // namespace tilescope::lab
