// A race at a moment, in numbers of whole runs: what is played stands for all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "show/session.hpp"

namespace tilescope::show {

/// What one of them has needed so far.
struct Score {
    double done = 0;     ///< share of its modelled time
    double seconds = 0;  ///< modelled
    double sm_bytes = 0;
    std::optional<double> dram_bytes;  ///< modelled; a launch's evenly over its time
    double operations = 0;             ///< FLOPs of matrix products; of a softmax, exponentials
};
/// Of one of a session's runs, which has come to run.tick().
Score score_of(const Session& session, const Run& run);

struct Scoreboard {
    /// A row; of every cell the longest way to say it first.
    struct Row {
        std::vector<std::string> name;
        std::vector<std::vector<std::string>> cells;
        double done = 0;
        bool won = false;  ///< only at the end
    };
    Row titles;
    std::vector<Row> rows;  ///< the two runs; at the end of both the ratio of the slower one to the faster one
    std::string remark;     ///< what the race is paced by, and what the numbers are of
};
/// Of a race where time is modelled.
Scoreboard scoreboard(const Session& session, bool says_when_it_ends = true);

/// "Paced by modelled time: …"
std::string pace_text(Pace pace);

}  // namespace tilescope::show
