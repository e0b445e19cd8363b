// A window to which anything may happen. TILESCOPE_EVENTS sets the number of events, TILESCOPE_SEED their seed.
#include "show/state/setups.hpp"
#include "tests/gui/visitor.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::gui;

TEST_CASE("Random events leave the window whole", "[window][events]") {
    const std::uint64_t seed = number_from_environment("TILESCOPE_SEED", 1),
                        events = number_from_environment("TILESCOPE_EVENTS", 10000);
    Choices choices(seed);
    Visitor visitor(choices);
    for (std::uint64_t k = 0; k < events; ++k) {
        INFO("event " << k << " of seed " << seed);
        const std::string wrong = visitor.act();
        if (!wrong.empty()) FAIL(wrong << "\nshown: " << visitor.shown());
    }
}

TEST_CASE("Frames go on while something large is in the making", "[window][events]") {
    Headless h(FontFiles{});
    const Flags row_by_row = {{"seq", "16777216"}, {"heads", "1"}, {"dim", "1"}, {"br", "1"}, {"causal", "true"}};
    for (const Flags& flags : {Flags{{"seq-q", "1099511627776"}}, Flags{{"heads", "1099511627776"}},
                               Flags{{"batch", "1099511627776"}}, Flags{{"seq", "1099511627776"}}, row_by_row})
        for (const char* algorithm : {"flash_v2", "softmax_online", "standard"}) {
            CAPTURE(algorithm, flags);
            h.app.shown.session.ask(show::setup("flash_v2", show::toy));
            h.app.shown.session.finish();
            const double begin = processor_time();
            h.app.shown.session.ask(show::with_algorithm(show::setup("flash_v2", flags), algorithm));
            CHECK(processor_time() - begin < 2);
            for (int k = 0; k < 5; ++k) CHECK(h.draw(0.2) < 2);
            h.app.shown.session.cancel();
            CHECK(h.draw(0) < 2);
        }
}
