// Sessions as a command line would make them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "show/session.hpp"
#include "tests/support/catch.hpp"

namespace tilescope::show {

using Flags = std::vector<std::pair<std::string, std::string>>;

/// Every number can be worked out by hand: four tiles of rows and of columns on four SMs.
inline const Flags toy = {{"gpu", "toy"}, {"seq", "16"}, {"dim", "4"},    {"heads", "1"},
                          {"br", "4"},    {"bc", "4"},   {"dtype", "f32"}};
/// Eight heads of eight row blocks on 108 SMs; four heads are recorded.
inline const Flags half = {{"seq", "512"}, {"br", "64"}, {"bc", "64"}};

/// Few tiles, ragged ones among them; of attention with masks and groups, too.
inline const Flags small = {{"seq", "20"}, {"heads", "3"}, {"br", "4"}, {"bc", "6"}};
inline const Flags small_attention = {{"seq", "20"}, {"heads", "4"}, {"kv-heads", "2"}, {"dim", "6"},
                                      {"br", "4"},   {"bc", "6"},    {"causal", "true"}};

inline Setup setup(const std::string& algorithm, const Flags& flags = {}, const std::string& rival = "") {
    Setup s;
    s.algorithm = algorithm;
    s.rival = rival;
    for (const auto& [flag, value] : flags) set_flag(s.options, flag, value);
    return s;
}
inline Setup small_setup(const Algorithm& a) {
    return setup(a.name, a.computes == &computation::softmax ? small : small_attention);
}

/// Has what it was asked for at once, however long that takes.
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

/// Nothing to show, and nothing that breaks when it is asked for all the same.
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
    if (pace == Pace::bytes) return static_cast<double>(run.hbm_read(tick) + run.hbm_write(tick));
    return pace == Pace::time ? run.seconds(tick) : static_cast<double>(tick);
}

/// How a race goes from start to end.
inline std::string wrong_race(const Session& s, Pace pace) {
    const Run &a = *s.run(), &b = *s.rival();
    if (s.ticks_at(0) != std::pair<Index, Index>(0, 0)) return "the start";
    if (s.ticks_at(s.length()) != std::pair(a.ticks(), b.ticks())) return "the end";
    for (Index p = 1; p <= s.length(); ++p) {
        const auto [x, y] = s.ticks_at(p);
        const auto [u, v] = s.ticks_at(p - 1);
        if (x < u || y < v || x > u + 1 || y > v + 1) return "a jump";
        if (x == u && y == v) return "a moment in which nothing happens";
        // Nobody is ahead of what the other does next.
        if (y < b.ticks() && reached(a, x, pace) > reached(b, y + 1, pace)) return "the first one is ahead";
        if (x < a.ticks() && reached(b, y, pace) > reached(a, x + 1, pace)) return "the second one is ahead";
    }
    return "";
}

}  // namespace tilescope::show
