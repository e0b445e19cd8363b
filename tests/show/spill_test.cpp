// Tensors that do not fit in HBM, and ways out.
#include "show/run/spill.hpp"

#include <numeric>

#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

const Flags large = {{"seq", "65536"}, {"heads", "16"}, {"gpu", "A100-40GB"}};

}  // namespace

TEST_CASE("what HBM has no room for spills over, and nothing runs", "[spill]") {
    WaitingSession session;
    session.ask(setup("standard", large));
    CHECK_FALSE(session.run());
    CHECK_FALSE(session.problem().empty());
    REQUIRE(session.spill());
    const Spill& s = *session.spill();
    // 16 heads, two bytes an element: Q, K, V and O of 65,536 x 64, and S and P of 65,536 x 65,536.
    const Bytes heads = 16, n = 65536;
    CHECK(s.needed == heads * (4 * n * 64 + 2 * n * n) * 2);
    CHECK(s.capacity == Bytes{40} << 30);
    CHECK(std::accumulate(s.tensors.begin(), s.tensors.end(), Bytes{0},
                          [](Bytes sum, const Spill::Tensor& t) { return sum + t.bytes; }) == s.needed);
    REQUIRE(s.tensors.size() == 6);
    CHECK(s.tensors[4].name + s.tensors[5].name == "SP");
    CHECK(spill_title(s) == "275 GB of 42.9 GB: the tensors of standard spill over HBM");
    CHECK(rim_text(s) == "HBM of A100-40GB: 42.9 GB");
    CHECK(beyond_text(s) == "232 GB too much");
    CHECK(culprit_text(s) == "P alone takes 137 GB, 3.2 times all of HBM: 16 × 65,536 × 65,536 f16.");
}

TEST_CASE("the ways out of HBM's spilling over have room", "[spill]") {
    WaitingSession session;
    session.ask(setup("standard", large));
    REQUIRE(session.spill());
    const Spill s = *session.spill();
    REQUIRE(s.other);
    CHECK(s.other->first == Setup().algorithm);
    CHECK(other_text(s) == "Use flash_v2: 541 MB");
    session.ask(setup(s.other->first, large));
    REQUIRE(session.run());
    CHECK_FALSE(session.spill());
    CHECK(session.run()->counted().hbm_footprint == s.other->second);

    REQUIRE(s.shorter == 16384);
    CHECK(shorter_text(s) == "Use N = 16,384");
    session.ask(
        setup("standard", with({{"heads", "16"}, {"gpu", "A100-40GB"}}, {{"seq", std::to_string(*s.shorter)}})));
    CHECK(session.run());
    session.ask(
        setup("standard", with({{"heads", "16"}, {"gpu", "A100-40GB"}}, {{"seq", std::to_string(2 * *s.shorter)}})));
    CHECK(session.spill());
}

TEST_CASE("in a race either may spill over", "[spill]") {
    WaitingSession session;
    session.ask(setup("flash_v2", large, "standard"));
    CHECK_FALSE(session.run());
    REQUIRE(session.spill());
    CHECK(session.spill()->algorithm == "standard");
}
