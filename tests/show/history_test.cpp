#include "show/state/history.hpp"

#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

History::Entry showing(const char* algorithm, Index step = 0) {
    State s;
    s.setup.algorithm = algorithm, s.step = step;
    return {s, {}};
}

}  // namespace

TEST_CASE("what was shown comes back, and goes again, until something else is shown", "[history]") {
    History h;
    CHECK(h.back() == nullptr);
    CHECK(h.forward() == nullptr);
    for (const char* name : {"standard", "flash_v1", "flash_v2"}) h.note(showing(name));
    CHECK(h.forward() == nullptr);
    CHECK(h.back()->state.setup.algorithm == "flash_v1");
    CHECK(h.back()->state.setup.algorithm == "standard");
    CHECK(h.back() == nullptr);
    CHECK(h.forward()->state.setup.algorithm == "flash_v1");
    h.note(showing("flash_v1"));  // shown, and therefore noted again
    CHECK(h.forward()->state.setup.algorithm == "flash_v2");
    h.back();
    h.note(showing("chunked"));
    CHECK(h.forward() == nullptr);
    CHECK(h.back()->state.setup.algorithm == "flash_v1");
}

TEST_CASE("another moment is no other picture, and is come back to as it was left", "[history]") {
    History h;
    h.note(showing("standard", 3));
    h.note(showing("standard", 40));
    h.note(showing("flash_v2"));
    const History::Entry* before = h.back();
    REQUIRE(before);
    CHECK(before->state.step == 40);
    CHECK(h.back() == nullptr);
    State other = before->state;
    other.view.stage = Stage::time;
    h.note({other, {}});
    CHECK(h.back()->state.view.stage == Stage::wall);
}

TEST_CASE("a long history forgets its beginning", "[history]") {
    History h;
    for (std::size_t k = 0; k < History::most + 10; ++k) h.note(showing(k % 2 == 0 ? "standard" : "flash_v2"));
    std::size_t back = 0;
    while (h.back()) ++back;
    CHECK(back == History::most - 1);
}
