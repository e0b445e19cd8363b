// The modelled timeline of a run as a trace for ui.perfetto.dev: launches, thread blocks on their SMs, and how busy
// units are. docs/time.md says what one sees.
#pragma once

#include <functional>
#include <ostream>
#include <span>
#include <string>

#include "core/time/perfetto.hpp"
#include "lab/model/played_launch.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// The most thread blocks of a run that can be drawn, and the most steps. Beyond these, loops are drawn whole.
inline constexpr Count most_blocks_drawn = 1 << 18, most_steps_drawn = 1 << 16;

struct Drawn {
    Count blocks = 0, steps = 0;
    Count steps_left_out = 0;  ///< of loops that are drawn whole, on SMs that are drawn in detail
};

/// `played` is what time_of() played of `run`. SMs below `detailed` are drawn with steps and units. `also`, if given,
/// draws tracks of its own after all others.
Drawn write_perfetto(std::ostream& out, const Experiment& experiment, const RunTime& run,
                     std::span<const PlayedLaunch> played, Index detailed, const Control* control = nullptr,
                     const std::function<void(PerfettoTrace&)>& also = {});

/// The SMs drawn in detail: "SM 0", "SMs 0 to 3".
std::string sms_in_words(Index detailed, const GpuSpec& gpu);

}  // namespace tilescope::lab
