// Sessions as a command line would make them.
#pragma once

#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/setups.hpp"

namespace tilescope::show {

/// A session that finishes every request at once, however long that takes.
struct WaitingSession : Session {
    using Session::Session;
    void ask(const Setup& setup) { Session::ask(setup), finish(); }
    void set(const std::string& flag, const std::string& value) { Session::set(flag, value), finish(); }
};

inline WaitingSession session_of(const std::string& algorithm, const Flags& flags, const std::string& rival = "",
                                 Pace pace = Pace::step) {
    Setup asked = setup(algorithm, flags, rival);
    asked.pace = pace;
    WaitingSession session;
    session.ask(asked);
    INFO(algorithm << ": " << session.problem());
    REQUIRE(session.run());
    return session;
}

/// Checks that the session has no run, and that its functions can be called without one.
inline void check_nothing_runs(Session& s) {
    CHECK(s.run() == nullptr);
    CHECK(s.rival() == nullptr);
    CHECK(s.length() == 0);
    CHECK(s.ticks_at(0) == std::pair<Index, Index>(0, 0));
    CHECK(s.position_of(5) == 0);
    s.show(3);
    CHECK(std::string(s.algorithm().name) != "");
}

inline double reached(const Run& run, Index tick, Pace pace) {
    if (pace == Pace::bytes) return static_cast<double>(run.hbm_read(tick) + run.hbm_sent(tick));
    return pace == Pace::time ? run.seconds_for_all(tick) : static_cast<double>(tick);
}

/// What is wrong with a race from start to end; "" where nothing is.
inline std::string wrong_race(const Session& s, Pace pace) {
    const Run &a = *s.run(), &b = *s.rival();
    if (s.ticks_at(0) != std::pair<Index, Index>(0, 0)) return "the start";
    if (s.ticks_at(s.length()) != std::pair(a.ticks(), b.ticks())) return "the end";
    for (Index p = 1; p <= s.length(); ++p) {
        const auto [x, y] = s.ticks_at(p);
        const auto [u, v] = s.ticks_at(p - 1);
        if (x < u || y < v || x > u + 1 || y > v + 1) return "a jump";
        if (x == u && y == v) return "a moment in which nothing happens";
        // Neither run has gone farther than the other will have after its next step.
        if (y < b.ticks() && reached(a, x, pace) > reached(b, y + 1, pace)) return "the first one is ahead";
        if (x < a.ticks() && reached(b, y, pace) > reached(a, x + 1, pace)) return "the second one is ahead";
    }
    return "";
}

}  // namespace tilescope::show
