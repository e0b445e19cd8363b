// What is said about modelled traffic and time.
#include "show/words/modelled.hpp"

#include <algorithm>

#include "core/text/numbers.hpp"
#include "lab/model/basis.hpp"
#include "lab/model/verdict.hpp"
#include "lab/model/warm.hpp"
#include "show/words/time_text.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

const Flags layer = {{"seq", "1024"}, {"dim", "128"}};

const CounterRow& row_named(const std::vector<CounterRow>& rows, const std::string& name) {
    return *std::find_if(rows.begin(), rows.end(), [&](const CounterRow& r) { return r.name == name; });
}

}  // namespace

TEST_CASE("what is modelled of a run has rows beside what is counted", "[modelled]") {
    WaitingSession session = session_of("flash_v2", layer);
    const Run& run = *session.run();
    const Report& r = run.counted();
    REQUIRE(r.time);
    const auto rows = modelled_rows(run, "flash_v2", &r);
    const auto whole = [&](const char* name) { return row_named(rows, name).whole.text; };
    CHECK(whole("DRAM read") == text::bytes(r.dram()->read));
    CHECK(whole("DRAM written") == text::bytes(r.dram()->written));
    CHECK(whole("L2 hits") == text::percent(*r.l2_hit_rate()));
    CHECK(whole("FLOPs per DRAM byte") == text::number(*r.dram_intensity()));  // below 1,000
    CHECK(whole("compulsory") == text::bytes(r.compulsory_read() + r.compulsory_written()));
    CHECK(whole("time") == text::microseconds(r.time->us()));
    CHECK(whole("useful FLOP/s") == text::count(r.useful_flops() / r.time->us() * 1e6) + "FLOP/s");
    const LaunchTime& l = r.time->longest();
    CHECK(whole("bound") == name_of(l.bound));
    CHECK(whole("waves") == text::number(l.waves));
    CHECK(whole("SMs in use") == "64 of 132");
    CHECK(whole("blocks on an SM") == std::to_string(l.residency.blocks));
    CHECK(whole("limited by").starts_with(name_of(l.residency.limit)));
    for (const CounterRow& row : rows) {
        INFO(row.name);
        CHECK(row.of_whole_run);
        CHECK(row.so_far.text == (row.name == "compulsory" ? "counted" : "modelled"));
        CHECK(row.other.text == row.whole.text);
        CHECK((row.ratio.empty() || row.ratio == "×1.0"));
    }
}

TEST_CASE("what is modelled explains itself", "[modelled]") {
    WaitingSession session = session_of("flash_v2", layer);
    const Run& run = *session.run();
    const Report& r = run.counted();
    const LaunchTime& l = r.time->longest();
    const auto rows = modelled_rows(run, "flash_v2", &r);
    CHECK(row_named(rows, "DRAM read").whole.explanation ==
          "DRAM read: " + text::grouped(r.dram()->read) +
              " B\nwhat the L2 lacks of what SMs read\nmodelled, not measured");
    CHECK(row_named(rows, "bound").whole.explanation ==
          "bound: " + std::string(name_of(l.bound)) + "\nwhat the longest launch waits for\nmodelled, not measured\n" +
              verdicts(run, nullptr)[0]);
    CHECK(row_named(rows, "compulsory").whole.explanation ==
          "compulsory: 6,291,456 B read, 2,129,920 B written\ninputs read once and outputs written once: what every "
          "algorithm has to move");
    CHECK(verdicts(run, nullptr) ==
          std::vector{verdict(l, r.time->style, r.experiment) + " " + basis(*r.time, r.experiment)});
    REQUIRE(is_warm(r));
    CHECK(about_time(run, false) == about_warm(r) +
                                        "\nModelled: when the thread blocks that are played have come so far in the "
                                        "whole run, each launch's evenly "
                                        "over its ticks.\n" +
                                        basis(*r.time, r.experiment));
}

TEST_CASE("modelled rows stand behind SM traffic, before what is on chip", "[modelled]") {
    WaitingSession session = session_of("flash_v2", toy);
    const auto rows = counter_rows(*session.run(), "standard", nullptr);
    CHECK(rows[1].name == "SM written");
    CHECK(rows[2].name == "DRAM read");
    CHECK_FALSE(rows[1].of_whole_run);
    CHECK(rows.back().name == "FLOPs per SM byte");
    CHECK(row_named(rows, "DRAM read").other.text == "does not fit");
}

TEST_CASE("a race has both runs' times and verdicts, and others are not timed", "[modelled][numbers]") {
    WaitingSession race = session_of("standard", layer, "flash_v2");
    const Report &own = race.run()->counted(), &other = race.rival()->counted();
    const auto rows = modelled_rows(*race.run(), "flash_v2", &other);
    CHECK(row_named(rows, "time").other.text == text::microseconds(other.time->us()));
    CHECK(row_named(rows, "time").ratio == ratio_text(other.time->us(), own.time->us()));
    CHECK(row_named(rows, "bound").ratio.empty());
    CHECK(row_named(rows, "bound").whole.explanation.find(", the longest of 3 launches\n") != std::string::npos);
    const auto said = verdicts(*race.run(), race.rival());
    REQUIRE(said.size() == 2);
    CHECK(said[0].starts_with("standard: "));
    CHECK(said[1].starts_with("flash_v2: "));
    WaitingSession alone = session_of("flash_v2", layer);
    const auto counted = modelled_rows(*alone.run(), "standard", alone.counted("standard"));
    CHECK(row_named(counted, "time").other.text == "–");
    CHECK(row_named(counted, "time").other.explanation == "modelled of what runs: race against standard");
    CHECK(row_named(counted, "compulsory").ratio != "");
    alone.set("seq", "65536");
    const auto beyond = modelled_rows(*alone.run(), "standard", alone.counted("standard"));
    CHECK(row_named(beyond, "time").other.text == "beyond HBM");
    CHECK(row_named(beyond, "time").other.explanation.starts_with("standard's tensors take"));
}

TEST_CASE("without an L2 all SM traffic comes from DRAM", "[modelled]") {
    WaitingSession session = session_of("flash_v2", layer);
    session.set("l2", "off");
    const auto rows = counter_rows(*session.run(), "standard", nullptr);
    CHECK(row_named(rows, "DRAM read").whole.text == row_named(rows, "SM read").whole.text);
    CHECK(row_named(rows, "L2 hits").whole.text == "0%");
}

TEST_CASE("a recording without its program has no time, and says why", "[modelled]") {
    const Folder folder;
    record_to(folder / "r.json");
    std::ifstream in(folder / "r.json");
    std::string recorded{std::istreambuf_iterator<char>(in), {}};
    for (std::size_t at = 0; (at = recorded.find("flash_v2", at)) != std::string::npos;)
        recorded.replace(at, 8, "flash_v9");
    write_bytes(folder / "unknown.json", recorded);
    Setup asked;
    asked.recording = folder / "unknown.json";
    WaitingSession session;
    session.ask(asked);
    REQUIRE(session.run());
    const Run& run = *session.run();
    const std::string why = "No time is modelled: " + run.remark() + ".";
    CHECK(why_no_time(run) == why);
    CHECK(verdicts(run, nullptr) == std::vector{why});
    CHECK(about_time(run, false) == why);
    CHECK(modelled_times(session, 3).front() == "no time modelled");
    const auto rows = counter_rows(run, run.algorithm().name, &run.counted());
    CHECK(row_named(rows, "time").whole.text == "no time");
    CHECK(row_named(rows, "time").whole.explanation == why);
    CHECK(row_named(rows, "time").other.explanation == why);
    CHECK(row_named(rows, "compulsory").whole.text != "");
}
