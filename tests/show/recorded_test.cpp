// Recordings in a session.
#include "tests/support/folder.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

Session opened(const std::string& path) {
    Setup setup;
    setup.recording = path;
    Session session;
    session.ask(setup);
    session.finish();
    return session;
}

}  // namespace

TEST_CASE("a recording plays as the run that it was made of", "[session][recording]") {
    const Folder folder;
    record_to(folder / "r.json");
    Session played = opened(folder / "r.json"), run = session_of("flash_v2", toy);
    REQUIRE(played.problem() == "");
    CHECK(played.run()->remark() == "");
    CHECK(played.run()->shortened() == "");
    CHECK(played.setup().algorithm == "flash_v2");
    CHECK((played.setup().options == run.setup().options));
    CHECK(played.length() == run.length());
    for (const Index position : {played.length() / 2, played.length()}) {
        played.show(position), run.show(position);
        CHECK((played.run()->player().state() == run.run()->player().state()));
        CHECK(played.run()->stored_error().rows == run.run()->stored_error().rows);
        CHECK(played.run()->stored_error().rms == run.run()->stored_error().rms);
    }
    CHECK(played.run()->nest().size() == 1);
    CHECK(played.run()->counted().counters == run.run()->counted().counters);
}

TEST_CASE("what is changed while a recording plays is run; opened again, it is played again", "[session][recording]") {
    const Folder folder;
    record_to(folder / "r.json");
    Session session = opened(folder / "r.json");
    session.set("bc", "8");
    CHECK(session.problem() == "");
    CHECK(session.setup().recording == "");
    CHECK(session.tiling()->bc == 8);
    CHECK(session.tiling()->br == 4);
    Setup again;
    again.recording = folder / "r.json";
    session.ask(again);
    session.finish();
    CHECK(session.setup().recording == folder / "r.json");
    CHECK(session.tiling()->bc == 4);
    const std::uint64_t version = session.version();
    session.ask(Setup(session.setup()));
    session.finish();
    CHECK(session.version() == version);
    again.options.seq = 5;
    again.recording = folder / "none.json";
    session.ask(again);
    session.finish();
    CHECK_THAT(session.problem(), Catch::Matchers::ContainsSubstring("has its own algorithm and flags"));
    CHECK_THAT(opened("/none.json").problem(), Catch::Matchers::ContainsSubstring("/none.json: cannot be read"));
}

TEST_CASE("a recording of chosen blocks, and one of an unknown algorithm, play what they have",
          "[session][recording]") {
    const Folder folder;
    record_to(folder / "r.json", {0, 2});
    Session some = opened(folder / "r.json");
    REQUIRE(some.run());
    CHECK(some.run()->remark() == "");
    CHECK(some.run()->shortened() == "Recorded: 2 of 4 thread blocks.");
    CHECK(some.run()->counted().counters.thread_blocks == 4);

    std::ifstream in(folder / "r.json");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    text.replace(text.find("flash_v2"), 8, "flash_v0");
    write_bytes(folder / "r.json", text);
    Session unknown = opened(folder / "r.json");
    REQUIRE(unknown.run());
    CHECK_THAT(unknown.run()->remark(), Catch::Matchers::ContainsSubstring("no algorithm flash_v0 today"));
    CHECK(unknown.algorithm().name == std::string("flash_v0"));
    CHECK(unknown.run()->counted().counters.thread_blocks == 2);
    CHECK(unknown.run()->lines().at(8).visits == some.run()->lines().at(8).visits / 2);
    CHECK(unknown.run()->nest().at(0).loops.size() == some.run()->nest().at(0).loops.size());
    unknown.show(unknown.length());
    CHECK(unknown.run()->stored_error().rows == 0);
}
