// How long a run takes and what the L2 catches, launch by launch: the program's outline, played on the machine.
// Modelled. docs/time.md derives it; docs/validation.md has its errors against devices.
#pragma once

#include <span>
#include <vector>

#include "core/record/outline.hpp"
#include "lab/model/played_launch.hpp"
#include "lab/model/registers.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// Counts a run and times it. The report has `time`, or in `no_time` the reason why not, such as tensors that do not
/// fit in HBM. The listeners receive the events of the same run. Throws what counting throws.
Report count_and_time(const Experiment& experiment, Control* control = nullptr,
                      std::span<Listener* const> listeners = {});

/// Launches of up to so many thread blocks are played block by block. The cycles of a larger launch are the sum of its
/// blocks' cycles over the number of blocks that the SMs hold at once: it has no waves and no tail.
inline constexpr Count most_blocks_played = 1 << 20;

struct TimingOptions {
    std::vector<PlayedLaunch>* played = nullptr;        ///< the launches are added to it
    Count most_stays = most_blocks_played;              ///< a launch of more thread blocks gets no stays in `played`
    RegistersFrom registers = RegistersFrom::compiler;  ///< those of a compiled kernel, where there is one
    bool l2 = true;                                     ///< false: nothing misses in the L2, and it is not played
};

/// The time alone, whether the tensors fit or not; infinite where no thread block fits on an SM. Throws what counting
/// throws.
RunTime time_of(const Experiment& experiment, const TimingOptions& options = {}, Control* control = nullptr);
/// The same of a run that was counted; `outline` listened to it.
RunTime time_of(const Report& counted, const Outline& outline, const TimingOptions& options = {});
/// Gives a counted report its time, or the reason why it has none; `outline` listened to it.
void set_time(Report& counted, const Outline& outline, const TimingOptions& options = {});

}  // namespace tilescope::lab
