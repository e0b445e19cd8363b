// The L2 beside a recording agrees with the model of the whole run, forwards and backwards.
#include "show/stage/l2_shown.hpp"

#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

const Flags one_head = {{"seq", "256"}, {"heads", "1"}, {"br", "64"}, {"bc", "64"}};

}  // namespace

TEST_CASE("what fits in the L2 is read from DRAM once a launch, as the whole run is modelled", "[l2 shown]") {
    for (const char* algorithm : {"flash_v2", "flash_v1", "standard", "memory_efficient", "softmax_online"}) {
        INFO(algorithm);
        Flags flags = one_head;
        if (std::string(algorithm).starts_with("softmax")) flags = {{"seq", "256"}, {"heads", "1"}};
        WaitingSession session = session_of(algorithm, flags);
        REQUIRE(session.run());
        const Run& run = *session.run();
        REQUIRE(run.shortened().empty());
        L2Shown l2(run);
        l2.seek(run.ticks());
        REQUIRE(run.counted().dram());
        CHECK(l2.dram_read() == run.counted().dram()->read);
        CHECK(l2.dram_written() == run.counted().dram()->written);
    }
}

TEST_CASE("going back finds what was there", "[l2 shown]") {
    // A longer run, so that seeks go farther.
    Flags flags = one_head;
    flags[0].second = "512";
    WaitingSession session = session_of("flash_v1", flags);
    const Run& run = *session.run();
    L2Shown forwards(run), jumping(run);
    std::vector<std::pair<Bytes, Bytes>> seen;
    for (Index tick = 0; tick <= run.ticks(); ++tick) {
        forwards.seek(tick);
        seen.push_back({forwards.held(), forwards.dram_read()});
    }
    Index tick = run.ticks();
    for (int k = 0; k < 200; ++k) {
        tick = (tick * 31 + 17) % (run.ticks() + 1);
        jumping.seek(tick);
        CHECK(std::pair(jumping.held(), jumping.dram_read()) == seen[static_cast<std::size_t>(tick)]);
    }
}

TEST_CASE("a load that L2 has asks DRAM for nothing, and the first one for all", "[l2 shown]") {
    WaitingSession session = session_of("flash_v2", one_head);
    const Run& run = *session.run();
    L2Shown l2(run);
    Bytes missed = 0, asked = 0;
    for (Index tick = 1; tick <= run.ticks(); ++tick) {
        l2.seek(tick);
        for (Index s = run.schedule().steps_after(tick - 1); s < run.schedule().steps_after(tick); ++s) {
            const Step& step = run.trace()[s];
            CHECK(l2.missed(s) <= step.event.cost.hbm_read);
            missed += l2.missed(s), asked += step.event.cost.hbm_read;
            if (!step.moves_data()) continue;
            CHECK(l2.share_held(step.event.region.tensor, static_cast<std::size_t>(step.region)) == 1);
        }
    }
    CHECK(missed == l2.dram_read());
    CHECK(asked == run.hbm_read(run.ticks()));
    CHECK(missed < asked);
}
