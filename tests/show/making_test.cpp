// What a session makes in the background: progress, cancelling, changed requests.
#include "show/run/making.hpp"

#include "tests/support/folder.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

using Catch::Matchers::ContainsSubstring;

/// Setups whose recordings take more units than a session makes at once.
const Flags long_one = {{"seq", "4194304"}, {"heads", "1"}, {"dim", "1"}, {"br", "1"}, {"bc", "1"}};
const Flags long_too = {{"seq", "2097152"}, {"heads", "1"}, {"dim", "1"}, {"br", "1"}, {"bc", "1"}};

/// Waits as a window does; returns the number of frames.
Index frames_until_done(Session& s) {
    Index frames = 0;
    for (; !s.pump(); ++frames) wait_a_moment();
    return frames;
}

}  // namespace

TEST_CASE("a small setup is there at once", "[session]") {
    for (const Algorithm& a : algorithms()) {
        Session s;
        s.ask(small_setup(a));
        CHECK_FALSE(s.busy());
        CHECK(s.run() != nullptr);
        CHECK(s.pump());
        s.ask(setup("flash_v9"));  // an error is there at once, too
        CHECK_FALSE(s.busy());
        CHECK_FALSE(s.problem().empty());
    }
}

TEST_CASE("while something is in the making, what was there before stays", "[session]") {
    Session s;
    const Setup before = setup("flash_v1", small), asked = setup("flash_v2", long_one);
    s.ask(before);
    s.show(5);
    const Run* run = s.run();
    const std::uint64_t version = s.version();
    const Index length = s.length();
    s.ask(asked);
    CHECK(s.busy());
    CHECK(s.progress().done > 0);
    CHECK(s.progress().left > 0);
    CHECK(s.setup() == asked);
    CHECK(s.algorithm().name == std::string("flash_v2"));
    s.ask(asked);  // asks again for the same setup
    CHECK(s.run() == run);
    CHECK(s.version() == version);
    CHECK(s.length() == length);
    CHECK(s.run()->tick() == 5);
    CHECK(s.request()->problem.seq_q == 20);
    CHECK(s.counted("flash_v1") == &run->counted());
    CHECK(s.counted("flash_v2")->experiment.problem.seq_q == 20);
    frames_until_done(s);
    CHECK_FALSE(s.busy());
    CHECK(s.version() != version);
    REQUIRE(s.run() != nullptr);
    CHECK(s.run()->experiment().problem.seq_q == 4194304);
    CHECK(s.length() == s.run()->ticks());
    CHECK(s.counted("flash_v2") == &s.run()->counted());
    CHECK(s.progress().done == 0);
}

TEST_CASE("what is cancelled leaves what was there, and can be asked for again", "[session]") {
    Session s;
    const Setup before = setup("flash_v1", small), asked = setup("flash_v2", long_one);
    s.ask(before);
    const Run* run = s.run();
    const std::uint64_t version = s.version();
    s.cancel();  // nothing is being made
    CHECK(s.setup() == before);
    for (int k = 0; k < 2; ++k) {
        s.ask(asked);
        REQUIRE(s.busy());
        s.cancel();
        CHECK_FALSE(s.busy());
        CHECK(s.pump());
        s.finish();
        CHECK(s.setup() == before);
        CHECK(s.run() == run);
        CHECK(s.version() == version);
        CHECK(s.problem().empty());
    }
    s.ask(asked);
    s.finish();
    CHECK(s.run()->experiment().problem.seq_q == 4194304);
}

TEST_CASE("the very first can be cancelled, too", "[session]") {
    Session s;
    s.ask(setup("flash_v2", long_one));
    REQUIRE(s.busy());
    CHECK(s.run() == nullptr);
    check_nothing_runs(s);
    s.cancel();
    CHECK_FALSE(s.busy());
    check_nothing_runs(s);
    s.ask(setup("flash_v2", small));
    CHECK(s.run() != nullptr);
}

TEST_CASE("another setup takes the place of what is in the making", "[session]") {
    Session s;
    s.ask(setup("flash_v2", long_one));
    s.ask(setup("flash_v2", long_too));
    CHECK(s.busy());
    s.finish();
    CHECK(s.run()->experiment().problem.seq_q == 2097152);
    s.ask(setup("flash_v2", long_one));
    s.ask(setup("flash_v2", small));
    CHECK_FALSE(s.busy());
    CHECK(s.run()->experiment().problem.seq_q == 20);
    s.ask(setup("flash_v2", long_one));
    s.set("seq", "zero");
    CHECK_FALSE(s.busy());
    CHECK_THAT(s.problem(), ContainsSubstring("seq"));
    check_nothing_runs(s);
}

TEST_CASE("a pace that changes meanwhile is the pace of what comes", "[session]") {
    Session s;
    Setup asked = setup("flash_v2", {{"seq", "1000"}, {"heads", "1"}, {"br", "16"}, {"bc", "16"}}, "flash_v2");
    s.ask(setup("flash_v2", small, "flash_v1"));
    s.ask(asked);
    asked.pace = Pace::bytes;
    s.ask(asked);
    REQUIRE(s.busy());
    CHECK(wrong_race(s, Pace::bytes) == "");
    s.finish();
    CHECK(s.setup() == asked);
    REQUIRE(s.rival() != nullptr);
    CHECK(wrong_race(s, Pace::bytes) == "");
}

TEST_CASE("what is wrong with files, and what does not fit with them, is found beside the window", "[session]") {
    const Folder folder;
    Setup asked = setup("flash_v2", {{"br", "4"}, {"bc", "6"}});
    Options& o = asked.options;
    const auto write = [&](const char* name, Index rows) {
        Storage s(Dtype::f32, 1, rows, 8);
        s.write(0, tilescope::testing::random_floats(s.size(), 1));
        std::ofstream file(folder / name, std::ios::binary);
        write_tensor(file, s, 1, 3);
        return folder / name;
    };
    o.q = o.k = o.v = "/no/such/q.npy";
    Session s;
    s.ask(asked);
    CHECK(s.busy());
    CHECK(s.problem().empty());
    s.finish();
    CHECK_THAT(s.problem(), ContainsSubstring("--q"));
    check_nothing_runs(s);

    o.q = write("q.npy", 30'000), o.k = write("k.npy", 20), o.v = write("v.npy", 20);
    s.ask(asked);
    frames_until_done(s);
    REQUIRE(s.run() != nullptr);
    CHECK(s.run()->experiment().problem.seq_q == 30'000);

    o.br = "30000";
    s.ask(asked);
    CHECK(s.busy());
    frames_until_done(s);
    REQUIRE(s.overflow());
    CHECK(s.overflow()->fitting);
    check_nothing_runs(s);
}

TEST_CASE("a session may move or go while something is in the making", "[session]") {
    Session from;
    from.ask(setup("flash_v2", long_one));
    Session to = std::move(from);
    CHECK(to.busy());
    to.finish();
    CHECK(to.run() != nullptr);
    to.ask(setup("flash_v2", long_too));
}
