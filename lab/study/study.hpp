// Many runs at a time: what sweep, plot and advise are made of.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// The outcome of a point of a study.
struct Outcome {
    Experiment experiment;
    std::optional<Report> report = std::nullopt;  ///< nothing where a tile does not fit on chip
    std::string remark = "";  ///< why there is no report, no time or no DRAM traffic; empty where nothing is missing
    std::optional<Space> lacks = std::nullopt;  ///< the space that is too small, where a tile does not fit on chip
};

/// What a study needs to know of its runs. Times need the L2, which may have to be played for seconds.
enum class Studied : std::uint8_t { counts, times };

/// Why the run has no time, or no DRAM traffic; empty where it has both.
std::string why_incomplete(const Report& report);

/// Counts a run and, where they are needed, models its times. A tile that does not fit is an outcome; throws
/// Interrupted, and what a wrong program throws.
Outcome outcome_of(const Experiment& experiment, Control* control = nullptr, Studied studied = Studied::times);

/// Evaluates points 0 to n - 1 on up to `threads` threads (0: all cores, but at most 8, because each may need 300 MB to
/// play the L2) and gives the outcomes to `take` in order, one at a time. Few outcomes wait at any time, however many
/// points there are. The first exception, of either function, ends the study.
void study(Index n, int threads, const std::function<Outcome(Index)>& evaluate,
           const std::function<void(Index, const Outcome&)>& take);

}  // namespace tilescope::lab
