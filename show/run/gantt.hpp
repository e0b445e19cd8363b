// The stays of a whole run's thread blocks on SMs, as modelled: the time model's timeline (lab/timing), in microseconds
// from the start of the run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lab/model/timing.hpp"

namespace tilescope::show {

/// A thread block's stay on an SM.
struct GanttStay {
    Index block;      ///< of the grid
    Index sm, slot;   ///< slot: among the thread blocks that the SM holds at a time
    double from, to;  ///< µs
};

/// An interval in which an SM holds the same number of thread blocks.
struct GanttCompany {
    double from, to;  ///< µs
    Index blocks;
};

struct GanttLaunch {
    lab::LaunchTime time;
    std::vector<Axis> axes;                            ///< of its grid
    double from = 0;                                   ///< µs: when it is launched
    double begin = 0;                                  ///< when its first thread blocks start
    double last_start = 0;                             ///< when its last thread block starts
    double to = 0;                                     ///< when all its thread blocks have ended
    std::vector<GanttStay> stays;                      ///< by SM, then by start; empty where there are too many
    std::vector<std::size_t> first_stay;               ///< by SM: index of its first stay; last element: the end
    std::vector<std::size_t> stay_of_block;            ///< by thread block of the grid: an index into stays
    std::vector<std::vector<GanttCompany>> companies;  ///< by SM

    Index slots() const { return time.residency.blocks; }
    std::span<const GanttStay> on_sm(Index sm) const;
    /// The stay of a thread block of the grid; nullptr where it is not known.
    const GanttStay* stay_of(Index block) const;
    /// The stays on an SM at a time (µs).
    std::vector<const GanttStay*> at(Index sm, double us) const;
};

class Gantt {
  public:
    /// Launches of more thread blocks keep no stays.
    static constexpr Count most_stays = 1 << 14;

    Gantt() = default;
    Gantt(const lab::Report& timed, std::vector<lab::PlayedLaunch> played);

    bool empty() const { return launches_.empty(); }
    double us() const { return empty() ? 0 : launches_.back().to; }
    Index sms() const { return sms_; }  ///< of the machine
    Index sms_used() const;             ///< how many SMs ever have a thread block: those with the lowest numbers
    const std::vector<GanttLaunch>& launches() const { return launches_; }
    /// The launch that takes the longest.
    const GanttLaunch& longest() const;
    /// The share of all SMs' slots that thread blocks take: the mean over each of `columns` equal parts of the time
    /// from 0 to `us`. A launch without stays has the mean over the whole launch in each part. Slots are those that the
    /// SMs have for thread blocks of the launch.
    std::vector<double> taken(std::size_t columns, double us) const;

  private:
    Index sms_ = 0;
    std::vector<GanttLaunch> launches_;
};

}  // namespace tilescope::show
