// What is modelled of a whole run: what reaches DRAM, how long it takes, and why. The SM's side is counted.
#pragma once

#include "show/tables.hpp"

namespace tilescope::show {

/// What SM traffic is, for tooltips.
std::string about_sm_traffic();

/// DRAM traffic, the bytes that have to move in any case, time and what it is made of, each of the whole run; beside it
/// those of `other`, as counter_rows() has them.
std::vector<CounterRow> modelled_rows(const Run& run, const std::string& other_name, const lab::Report* other);

/// Why no time is modelled; empty where it is.
std::string why_no_time(const Run& run);
/// What the time waits for and what it rests on, or why there is none: in a race of both runs, by name.
std::vector<std::string> verdicts(const Run& run, const Run* rival);
/// The tooltip of the modelled time; in a race it is that of the whole run.
std::string about_time(const Run& run, bool races);

}  // namespace tilescope::show
