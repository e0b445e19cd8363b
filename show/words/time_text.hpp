// The texts about time: where playback is, how long it would have taken, what moves when.
#pragma once

#include <string>
#include <vector>

#include "core/text/numbers.hpp"
#include "show/run/session.hpp"

namespace tilescope::show {

using text::duration;
/// "12 operations"; in a race "12 moments", at which one run or both go on by one.
std::string positions_text(const Session& session, Index number);
/// "operation 12 of 340" at a position, in a race "moment 12 of 340".
std::string step_text(const Session& session, Index position);
/// "450 µs of 900 µs modelled", in a race the times of both runs, and shorter versions; empty texts where nothing runs.
std::vector<std::string> modelled_times(const Session& session, Index position, bool says_when_it_ends = true);
/// step_text() and modelled_times() in one line, the longest version first.
std::vector<std::string> step_and_times(const Session& session, Index position, bool says_when_it_ends = true);
/// The tooltip of modelled times: what is modelled, and what the model rests on.
std::string about_modelled_time(const Session& session);
/// "4 operations/s"; at the pace of time "1.2 µs/s", of modelled time.
std::string speed_text(const Session& session, double steps_per_second);

/// Bytes that the first run moves after position `from`, up to position `to`.
Traffic moved_between(const Session& session, Index from, Index to);
/// The tooltip of a position on the bar; `sm` is in focus.
std::string about_position(const Session& session, Index position, Index sm);

/// "tick 12 of 340".
std::string tick_text(const Run& run, Index tick);
/// The title of the traffic over time: bytes of the busiest tick, in a race those of both runs.
std::string traffic_title(double most, std::optional<double> most_of_rival);
/// The tooltip of a tick in this traffic.
std::string about_tick(const Run& run, Index tick);

}  // namespace tilescope::show
