#include "show/files/page_files.hpp"

#include "core/machine/error.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;
using namespace Catch::Matchers;

TEST_CASE("a page writes pictures and films of what plays, and numbers of what is explored", "[page]") {
    CHECK(usual_page_file(Stage::wall) == "wall.svg");
    CHECK(usual_page_file(Stage::tiles) == "tiles.csv");
    CHECK(usual_page_file(Stage::io) == "io-vs-n.csv");
    for (const char* name : {"a.webm", "a.WEBM", "a.mp4"}) CHECK(is_page_film(name));
    for (const char* name : {"a.gif", "webm", "a.webm/x"}) CHECK_FALSE(is_page_film(name));

    const auto session = session_of("flash_v2", {{"seq", "128"}, {"heads", "1"}, {"br", "32"}, {"bc", "32"}});
    for (const char* name : {"a.svg", "a.png", "a.webm", "a.mp4"})
        CHECK_NOTHROW(check_page_file(session, Stage::wall, name));
    CHECK_THROWS_WITH(check_page_file(session, Stage::wall, "a"), "the name a: must end in .svg, .png or .webm");
    CHECK_THROWS_WITH(check_page_file(session, Stage::row, "a.pdf"), ContainsSubstring("a.pdf"));
    CHECK_NOTHROW(check_page_file(session, Stage::tiles, "a.csv"));
    CHECK_THROWS_WITH(check_page_file(session, Stage::tiles, "a.svg"), ContainsSubstring("must end in .csv"));
    const Session nothing;
    CHECK_THROWS_AS(check_page_file(nothing, Stage::wall, "a.webm"), UsageError);
}

TEST_CASE("what is seen of a large picture is drawn along as far as its ends", "[page]") {
    CHECK(panned(0.5, 10, 200, 100) == 0.45);
    CHECK(panned(0.5, -10, 200, 100) == 0.55);
    CHECK(panned(0.5, 1000, 200, 100) == 0.25);  // the middle of the first half
    CHECK(panned(0.5, -1000, 200, 100) == 0.75);
    CHECK(panned(0, -10, 200, 100) == 0.3);   // the centre of the view starts at 0.25, the least that it can be
    CHECK(panned(0.4, 30, 100, 100) == 0.4);  // all of the picture is visible already
}
