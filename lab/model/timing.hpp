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
    std::vector<PlayedLaunch>* played = nullptr;        ///< gets the run's launches appended
    Count most_stays = most_blocks_played;              ///< a launch of more thread blocks gets no stays in `played`
    RegistersFrom registers = RegistersFrom::compiler;  ///< `compiler`: as compiled, where that is known
    bool l2 = true;                                     ///< false: does not play the L2, as if nothing missed
};

/// Counts a run and returns only its time, even where the tensors do not fit in HBM. The time is infinite where no
/// thread block fits on an SM. Throws what counting throws.
RunTime time_of(const Experiment& experiment, const TimingOptions& options = {}, Control* control = nullptr);
/// The time of a run that was counted while `outline` listened.
RunTime time_of(const Report& counted, const Outline& outline, const TimingOptions& options = {});
/// Sets the time of a run that was counted while `outline` listened, or the reason why the run has no time.
void set_time(Report& counted, const Outline& outline, const TimingOptions& options = {});

}  // namespace tilescope::lab
