#include "show/files/film.hpp"

#include "core/machine/error.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;
using namespace Catch::Matchers;

namespace {

const Flags few_tiles = {{"seq", "128"}, {"heads", "1"}, {"br", "32"}, {"bc", "32"}};

}  // namespace

TEST_CASE("a film is usually from here to the end, and from the end all of it", "[film]") {
    Playback p;
    p.set_length(90);
    p.seek(30);
    CHECK(usual_film(p) == FilmOrder{"", 30, 90});
    p.seek(90);
    CHECK(usual_film(p) == FilmOrder{"", 0, 90});
    for (const char* name : {"a.mp4", "a.GIF", "x.y/a.Mp4"}) CHECK(is_film(name));
    for (const char* name : {"a.svg", "mp4", "a", ".mp4", "a.mp4/x"}) CHECK_FALSE(is_film(name));
}

TEST_CASE("a film of steps that there are not is refused, with one that can be made", "[film]") {
    CHECK_THROWS_WITH(check_film({"a.mp4", 0, 91}, 90), "to operation 91: the run has 90 operations; try 90");
    CHECK_THROWS_WITH(check_film({"a.mp4", 0, 0}, 90), "to operation 0: the run has 90 operations; try 90");
    CHECK_THROWS_WITH(check_film({"a.mp4", 40, 40}, 90), ContainsSubstring("must be below operation 40"));
    CHECK_NOTHROW(check_film({"a.mp4", 0, 90}, 90));
}

TEST_CASE("a film is as long as playing is", "[film]") {
    const WaitingSession steps = session_of("flash_v2", few_tiles),
                         in_time = session_of("flash_v2", few_tiles, "", Pace::time);
    // A move for each step, and the last picture.
    CHECK(film_pictures(steps, 10, 19, 2, 30) == 10 * 15 + 1);
    CHECK(film_length_text(steps, {"", 10, 19}, 2) == "A film of 5.03 s: 9 operations at 2 operations/s, as it plays.");
    CHECK(film_length_text(steps, {"", 19, 10}, 2).empty());
    CHECK(film_length_text(steps, {"", 0, steps.length() + 1}, 2).empty());
    double moves = 1;
    for (Index p = 4; p < 9; ++p) moves += in_time.weight(p + 1);
    CHECK(film_pictures(in_time, 4, 9, 2, 30) == static_cast<Index>(moves * 15) + 1);
}

TEST_CASE("the command of a film is the state's, and does not begin again", "[film]") {
    State s;
    s.loop = true, s.speed = 9, s.view.stage = Stage::row;
    const std::vector<std::string> words = film_command(s, {"-a b.mp4", 3, 12, true}, 640, 400);
    s.loop = false, s.stretch = {3, 12};
    std::vector<std::string> wanted = command_line(s);
    for (const char* word : {"--export=-a b.mp4", "--fps=30", "--size=640x400", "--caption"}) wanted.emplace_back(word);
    CHECK(words == wanted);
    CHECK(film_command(s, {"a.gif", 3, 12, false}, 640, 400).back() == "--size=640x400");
}

TEST_CASE("how far a film is stands in words", "[film]") {
    CHECK(filming_text("x/film.mp4", 0, 0) == "film.mp4: counting and recording");
    CHECK(filming_text("x/film.mp4", 1200, 3400) == "film.mp4: picture 1,200 of 3,400");
    CHECK(not_filmed_text("film.mp4") == "Cancelled: film.mp4 is not written");
}
