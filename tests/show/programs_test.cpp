// The sources of the tile programs, as the window shows them.
#include "show/run/programs.hpp"

#include <algorithm>
#include <set>

#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;

// An event has to name its source by the path of the embedded program, on every machine and with a compiler cache.
TEST_CASE("every operation of every algorithm is found in a program that can be shown", "[programs]") {
    for (const Algorithm& a : algorithms()) {
        CAPTURE(a.name);
        std::set<std::string> sources;
        WaitingSession session;
        session.ask(small_setup(a));
        REQUIRE(session.run());
        const Trace& trace = session.run()->trace();
        for (Index n = 0; n < trace.size(); ++n) sources.insert(trace[n].event.source_file);
        sources.erase("");  // launches have no source
        CHECK_FALSE(sources.empty());
        for (const std::string& source : sources) {
            CAPTURE(source);
            CHECK(std::ranges::any_of(embedded_programs(), [&](const EmbeddedFile& f) { return f.name == source; }));
        }
    }
}
