// What is modelled of a whole run: DRAM traffic, time, and the reasons for it. SM traffic is counted instead.
#pragma once

#include "show/words/tables.hpp"

namespace tilescope::show {

/// What SM traffic is, for tooltips.
std::string about_sm_traffic();

/// Rows of the whole run: DRAM traffic, the bytes that have to move in any case, time and its causes; beside them the
/// numbers of `other`, as in counter_rows().
std::vector<CounterRow> modelled_rows(const Run& run, const std::string& other_name, const lab::Report* other);

/// Why no time is modelled; empty where it is.
std::string why_no_time(const Run& run);
/// What the time waits for and rests on, or why there is no time; in a race a text of each run, with its name.
std::vector<std::string> verdicts(const Run& run, const Run* rival);
/// The tooltip of the modelled time; in a race it is that of the whole run.
std::string about_time(const Run& run, bool races);

}  // namespace tilescope::show
