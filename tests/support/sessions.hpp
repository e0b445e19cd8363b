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

/// Has what it was asked for at once, however long that takes.
struct WaitingSession : Session {
    using Session::Session;
    void ask(const Setup& setup) { Session::ask(setup), finish(); }
    void set(const std::string& flag, const std::string& value) { Session::set(flag, value), finish(); }
};

inline WaitingSession session_of(const std::string& algorithm, const Flags& flags, const std::string& rival = "",
                                 Pace pace = Pace::step) {
    Setup setup;
    setup.algorithm = algorithm, setup.rival = rival, setup.pace = pace;
    for (const auto& [flag, value] : flags) set_flag(setup.options, flag, value);
    WaitingSession session;
    session.ask(setup);
    INFO(algorithm << ": " << session.problem());
    REQUIRE(session.run());
    return session;
}

}  // namespace tilescope::show
