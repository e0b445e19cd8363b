#include "show/run/playback.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.hpp"

using namespace tilescope;
using tilescope::show::Playback;

namespace {

const Playback::Stop nowhere = [](Index, Index) { return Index{-1}; };

/// A function that gives the first of these positions that is passed.
Playback::Stop at(std::vector<Index> positions) {
    return [=](Index from, Index to) {
        for (const Index p : positions)
            if (from < p && p <= to) return p;
        return Index{-1};
    };
}

Playback with_length(Index length, double speed = 10) {
    Playback p;
    p.set_length(length);
    p.set_speed(speed);
    return p;
}

}  // namespace

TEST_CASE("playback begins at the start, at rest", "[playback]") {
    const Playback p;
    CHECK(p.length() == 0);
    CHECK(p.position() == 0);
    CHECK(p.fraction() == 1);
    CHECK_FALSE(p.playing());
    CHECK_FALSE(p.loop);
}

TEST_CASE("playing takes as many positions a second as its speed says", "[playback]") {
    for (const double speed : {0.5, 1.0, 4.0, 60.0, 2000.0}) {
        Playback p = with_length(1'000'000, speed);
        p.play();
        CHECK(p.playing());
        // The first move begins at once, because no move before it has to be shown.
        for (int frame = 0; frame < 600; ++frame) {
            p.advance(1.0 / 60, nowhere);
            CHECK(p.fraction() >= 0);
            CHECK(p.fraction() <= 1);
        }
        CHECK(std::abs(static_cast<double>(p.position()) - 10 * speed) <= 1.001);
        CHECK(p.playing());
    }
}

TEST_CASE("every move is shown from its beginning to its end", "[playback]") {
    Playback p = with_length(3, 10);
    p.play();
    std::vector<std::pair<Index, int>> seen;
    while (p.playing()) {
        p.advance(0.025, nowhere);
        seen.emplace_back(p.position(), static_cast<int>(p.fraction() * 100 + 0.5));
    }
    const std::vector<std::pair<Index, int>> expected = {{1, 25}, {1, 50}, {1, 75}, {2, 0},  {2, 25}, {2, 50},
                                                         {2, 75}, {3, 0},  {3, 25}, {3, 50}, {3, 75}, {3, 100}};
    CHECK(seen == expected);
    CHECK(p.position() == 3);
    CHECK(p.fraction() == 1);
}

TEST_CASE("playing stops at the end, and begins anew from there", "[playback]") {
    Playback p = with_length(5);
    p.play();
    for (int k = 0; k < 100; ++k) p.advance(0.1, nowhere);
    CHECK(p.position() == 5);
    CHECK(p.fraction() == 1);
    CHECK_FALSE(p.playing());
    p.play();
    CHECK(p.position() == 0);
    CHECK(p.playing());
    p.advance(0.05, nowhere);
    CHECK(p.position() == 1);
    p.pause();
    p.seek(2);
    p.play();
    CHECK(p.position() == 2);  // playing begins anew only at the end
}

TEST_CASE("a loop goes on from the start", "[playback]") {
    Playback p = with_length(4, 10);
    p.loop = true;
    p.play();
    std::vector<Index> seen;
    for (int k = 0; k < 60; ++k) {
        p.advance(0.02, nowhere);
        if (seen.empty() || seen.back() != p.position()) seen.push_back(p.position());
    }
    CHECK(p.playing());
    REQUIRE(seen.size() > 12);
    CHECK(std::vector<Index>(seen.begin(), seen.begin() + 12) ==
          std::vector<Index>{1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2});
    p.loop = false;
    for (int k = 0; k < 10; ++k) p.advance(0.1, nowhere);
    CHECK_FALSE(p.playing());
    CHECK(p.position() == 4);
}

TEST_CASE("a stretch is what is played, again and again, and nobody is kept in it", "[playback]") {
    Playback p = with_length(20);
    p.set_stretch({5, 8});
    CHECK(p.position() == 0);
    p.to_start();
    CHECK(p.position() == 0);
    p.to_end();
    CHECK(p.position() == 8);
    p.play();
    CHECK(p.position() == 5);
    p.advance(0.4, nowhere);
    CHECK(p.position() == 8);
    p.advance(0.2, nowhere);
    CHECK(p.position() == 8);
    CHECK_FALSE(p.playing());
    p.loop = true;
    p.play();
    p.advance(0.4, nowhere);
    p.advance(0.2, nowhere);
    CHECK(p.position() == 5);
    CHECK(p.playing());
    p.loop = false;
    p.to_start();
    CHECK(p.position() == 0);
    p.to_end(), p.to_end();
    CHECK(p.position() == 20);
    p.to_start();
    CHECK(p.position() == 5);
    // Beyond the stretch, playing goes on to the end, and then begins with the stretch.
    p.seek(9);
    p.play();
    p.advance(100, nowhere);
    p.advance(100, nowhere);
    CHECK(p.position() == 20);
    CHECK_FALSE(p.playing());
    p.play();
    CHECK(p.position() == 5);
}

TEST_CASE("a run that has no such stretch is played from its start to its end", "[playback]") {
    for (const show::Stretch stretch : {show::Stretch{20, 30}, show::Stretch{0, 20}, show::Stretch{0, -1},
                                        show::Stretch{25, -1}, show::Stretch{0, 0}}) {
        Playback p = with_length(20);
        p.set_stretch(stretch);
        CHECK(p.first() == 0);
        CHECK(p.last() == 20);
        p.set_length(0);
        CHECK(p.last() == 0);
    }
}

TEST_CASE("pausing stays where it is, and lets the last move arrive", "[playback]") {
    Playback p = with_length(10, 10);
    p.play();
    p.advance(0.11, nowhere);
    p.toggle();
    CHECK_FALSE(p.playing());
    const Index here = p.position();
    const double shown = p.fraction();
    CHECK(shown < 1);
    p.advance(0.05, nowhere);
    CHECK(p.fraction() > shown);
    for (int k = 0; k < 100; ++k) p.advance(1, nowhere);
    CHECK(p.position() == here);
    CHECK(p.fraction() == 1);
    p.toggle();
    CHECK(p.playing());
}

TEST_CASE("a step forwards is a move, a step back is not, and both pause", "[playback]") {
    Playback p = with_length(10);
    p.play();
    p.step(1);
    CHECK_FALSE(p.playing());
    CHECK(p.position() == 1);
    CHECK(p.fraction() == 0);
    p.advance(0.1, nowhere);
    CHECK(p.fraction() > 0);
    CHECK(p.fraction() < 1);
    p.advance(1, nowhere);
    CHECK(p.fraction() == 1);
    p.step(3);
    CHECK(p.position() == 4);
    p.play();
    p.step(-1);
    CHECK_FALSE(p.playing());
    CHECK(p.position() == 3);
    CHECK(p.fraction() == 1);
    p.step(-100);
    CHECK(p.position() == 0);
    p.step(100);
    CHECK(p.position() == 10);
    CHECK(p.fraction() == 0);
    p.step(1);  // there is no next step
    CHECK(p.position() == 10);
    CHECK(p.fraction() == 1);
}

TEST_CASE("seeking shows no move and keeps playing; going shows the last move and pauses", "[playback]") {
    Playback p = with_length(10);
    p.play();
    p.seek(7);
    CHECK(p.playing());
    CHECK(p.position() == 7);
    CHECK(p.fraction() == 1);
    p.go(9);
    CHECK_FALSE(p.playing());
    CHECK(p.position() == 9);
    CHECK(p.fraction() == 0);
    p.go(2);
    CHECK(p.position() == 2);
    CHECK(p.fraction() == 1);
    p.go(2);
    CHECK(p.fraction() == 1);
    for (const Index beyond : {Index{-1}, std::numeric_limits<Index>::min()}) {
        p.seek(beyond);
        CHECK(p.position() == 0);
        p.go(beyond);
        CHECK(p.position() == 0);
    }
    for (const Index beyond : {Index{11}, std::numeric_limits<Index>::max()}) {
        p.seek(beyond);
        CHECK(p.position() == 10);
        p.go(beyond);
        CHECK(p.position() == 10);
    }
}

TEST_CASE("playing stops at the first stop on its way, with the move to it shown", "[playback]") {
    for (const double frame : {0.01, 0.1, 0.35, 100.0}) {
        Playback p = with_length(20, 10);
        const auto stops = at({7, 13});
        std::vector<Index> stopped;
        for (int round = 0; round < 3; ++round) {
            p.play();
            while (p.playing()) p.advance(frame, stops);
            stopped.push_back(p.position());
            CHECK(p.fraction() == (p.position() == 20 ? 1 : 0));
        }
        CHECK(stopped == std::vector<Index>{7, 13, 20});
    }
}

TEST_CASE("stops are asked for what is passed, once", "[playback]") {
    Playback p = with_length(50, 37);
    Index reached = 0;
    p.play();
    while (p.playing())
        p.advance(1.0 / 60, [&](Index from, Index to) {
            CHECK(from == reached);
            CHECK(to >= from);
            CHECK(to <= 50);
            reached = to;
            return Index{-1};
        });
    CHECK(reached == 50);
}

TEST_CASE("however long a frame takes, playing ends at the end", "[playback]") {
    for (const double seconds : {1e3, 1e9, 1e18, 1e300, std::numeric_limits<double>::infinity()}) {
        Playback p = with_length(100, 2000);
        p.play();
        p.advance(seconds, nowhere);
        CHECK(p.position() == 100);
        CHECK(p.fraction() >= 0);
        CHECK(p.fraction() <= 1);
        p.advance(seconds, nowhere);
        CHECK(p.position() == 100);
        CHECK(p.fraction() == 1);
        CHECK_FALSE(p.playing());
        p.advance(seconds, nowhere);
        CHECK(p.fraction() == 1);
        p.loop = true;
        p.play();
        for (int k = 0; k < 10; ++k) {
            p.advance(seconds, nowhere);
            CHECK(p.position() >= 0);
            CHECK(p.position() <= 100);
        }
        CHECK(p.playing());
    }
}

TEST_CASE("no time, no move", "[playback]") {
    Playback p = with_length(10, 10);
    p.play();
    p.advance(0.12, nowhere);
    const Index here = p.position();
    const double shown = p.fraction();
    for (int k = 0; k < 10; ++k) p.advance(0, nowhere);
    CHECK(p.position() == here);
    CHECK(p.fraction() == shown);
}

TEST_CASE("nothing to play", "[playback]") {
    Playback p = with_length(0);
    p.play();
    CHECK_FALSE(p.playing());
    p.toggle();
    CHECK_FALSE(p.playing());
    p.loop = true;
    p.play();
    CHECK_FALSE(p.playing());
    p.step(1);
    p.step(-1);
    p.go(3);
    p.seek(3);
    p.advance(1, nowhere);
    CHECK(p.position() == 0);
    CHECK(p.fraction() == 1);
}

TEST_CASE("another length keeps the position as far as it exists", "[playback]") {
    Playback p = with_length(100);
    p.seek(60);
    p.play();
    p.advance(0.01, nowhere);
    p.set_length(200);
    CHECK(p.length() == 200);
    CHECK(p.position() == 61);
    CHECK(p.playing());
    p.set_length(200);  // every frame sets the length
    CHECK(p.playing());
    CHECK(p.fraction() < 1);
    p.set_length(30);
    CHECK(p.position() == 30);
    CHECK(p.fraction() == 1);
    CHECK_FALSE(p.playing());
    p.set_length(0);
    CHECK(p.position() == 0);
    p.set_length(30);
    CHECK(p.position() == 30);  // the position was in range, so it stays
    p.set_length(0);
    p.seek(0);
    p.set_length(30);
    CHECK(p.position() == 0);
}

TEST_CASE("setting the same length every frame lets playing end, and loop", "[playback]") {
    for (const bool loop : {false, true}) {
        Playback p = with_length(4, 10);
        p.loop = loop;
        p.play();
        bool at_end_in_full = false;
        int rounds = 0;
        for (int k = 0; k < 200; ++k) {
            const Index before = p.position();
            p.set_length(4);
            p.advance(0.025, nowhere);
            at_end_in_full |= p.position() == 4 && p.fraction() > 0.7;
            rounds += before == 4 && p.position() == 0;
        }
        CHECK(at_end_in_full);
        CHECK(p.playing() == loop);
        CHECK((rounds > 5) == loop);
    }
}

TEST_CASE("the speed stays within what can be followed", "[playback]") {
    Playback p;
    p.set_speed(0);
    CHECK(p.speed() == Playback::slowest);
    p.set_speed(-5);
    CHECK(p.speed() == Playback::slowest);
    p.set_speed(1e9);
    CHECK(p.speed() == Playback::fastest);
    p.set_speed(30);
    CHECK(p.speed() == 30);
}

TEST_CASE("a position that is not there yet is gone to when it is", "[playback]") {
    Playback p;
    p.seek_in_time(120);
    CHECK(p.position() == 0);
    p.set_length(0);  // still empty
    p.set_length(340);
    CHECK(p.position() == 120);
    p.set_length(500);
    CHECK(p.position() == 120);
    p.seek_in_time(900);
    CHECK(p.position() == 500);
    p.seek(3);  // the user goes elsewhere
    p.set_length(1000);
    CHECK(p.position() == 3);
    p.seek_in_time(7);
    CHECK(p.position() == 7);
    p.set_length(5);
    p.set_length(1000);
    CHECK(p.position() == 5);
}

TEST_CASE("moves take as long as their weight says", "[playback]") {
    const auto weight = [](Index position) { return position == 2 ? 3.0 : position == 3 ? 0.0 : 1.0; };
    for (const double frame : {0.01, 0.025, 0.1}) {
        Playback p = with_length(5, 10);
        p.play();
        std::vector<double> until(6, 0);
        double now = 0;
        while (p.playing()) {
            p.advance(frame, nowhere, weight);
            now += frame;
            until[static_cast<std::size_t>(p.position())] = now;
        }
        // Seconds until the moves to 1, 2, ... have been shown; the third takes none.
        CHECK(std::abs(until[1] - 0.1) <= frame + 1e-9);
        CHECK(std::abs(until[2] - 0.4) <= frame + 1e-9);
        CHECK(until[3] == 0);
        CHECK(std::abs(until[5] - 0.6) <= 2 * frame + 1e-9);
    }
}

TEST_CASE("for who asks for less motion, what a move leads to is there at once", "[playback]") {
    Playback p = with_length(10);
    p.still = true;
    p.step(1);
    CHECK(p.position() == 1);
    CHECK(p.fraction() == 1);
    p.play();
    p.advance(0.55, nowhere);
    CHECK(p.position() > 3);
    CHECK(p.fraction() == 1);
}
