// The texts about the timeline of a whole run.
#pragma once

#include <string>
#include <vector>

#include "show/run/session.hpp"

namespace tilescope::show {

/// The finding: how the thread blocks fill the SMs; in a race how far both are, and at its end who took longer.
std::string gantt_headline(const Session& session);
/// Where time is lost, and what the run waits for.
std::string gantt_reason(const Session& session);

/// "flash_v2 · 128 × 128 · 204 µs · room for 1 thread block on each of 132 SMs", and shorter.
std::vector<std::string> gantt_title(const Run& run, bool says_when_it_ends = true);
/// "SMs 8 to 131 have nothing to do.", "65,536 thread blocks of output are too many to draw: one bar stands for all.",
/// "One of 4 SMs is drawn."; empty where all is drawn.
std::string gantt_left_out(const Session& session, Index every);
/// What the bars and their shades mean.
std::string gantt_legend(const Run& run);
/// gantt_left_out() and gantt_legend(), one after the other.
std::string gantt_note(const Session& session, Index every);
/// The title of the share of slots that are taken.
std::string places_title();

/// The tooltip of an SM at a time.
std::string about_gantt(const Run& run, const GanttLaunch& launch, Index sm, double us);

/// A part of the time of a loop step, which is one iteration of a loop in each thread block on an SM.
struct StepPart {
    std::string name, brief;
    double cycles;
    bool waits;  ///< a stall: no unit works for the thread block
};
struct StepParts {
    std::string title;  ///< "A loop step of flash_v2, as a thread block has it: 1,234 cycles"
    std::vector<StepPart> parts;
    double cycles;
};
/// A loop step of the loop in which the longest launch spends most of its time.
StepParts step_parts(const Run& run);
/// "tensor cores 42%", and shorter.
std::vector<std::string> part_text(const StepParts& step, const StepPart& part);
std::string about_part(const StepParts& step, const StepPart& part);

struct TimeTick {
    double us;
    std::string text;
};
/// Ticks at round numbers from 0 to `us`, in at most `most` steps.
std::vector<TimeTick> time_ticks(double us, int most);

}  // namespace tilescope::show
