// A race at a moment, in numbers of whole runs: what is recorded stands for the whole run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "show/run/session.hpp"

namespace tilescope::show {

/// What one of the two runs has needed so far.
struct Score {
    double done = 0;     ///< share of its modelled time
    double seconds = 0;  ///< modelled
    double sm_bytes = 0;
    std::optional<double> dram_bytes;  ///< modelled; spread evenly over each launch's time
    double operations = 0;             ///< FLOPs of matrix products; of a softmax, exponentials
};
/// The score of one of the session's runs, at run.tick().
Score score_of(const Session& session, const Run& run);

struct Scoreboard {
    /// A row. A cell has several texts, the longest first.
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
/// The scoreboard of a race whose time is modelled.
Scoreboard scoreboard(const Session& session, bool says_when_it_ends = true);

/// "Paced by modelled time: …"
std::string pace_text(Pace pace);

}  // namespace tilescope::show
