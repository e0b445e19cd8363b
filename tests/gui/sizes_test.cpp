// Every size, scale and theme, with anything to show. The program ends where Dear ImGui refuses a call, and the test
// fails where no renderer could draw the result. Draws a sample; `tilescope-window-tests "[scan]"` draws all widths up
// to 600, or every TILESCOPE_EVERY-th.
#include <cstdio>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/choices.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/headless.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/situations.hpp"

using namespace tilescope;
using namespace tilescope::gui;

namespace {

// Scales of displays, of small windows and of the projector: 0.8 to 1.3 x 3.
constexpr float scales[] = {0.8f, 1, 1.25f, 1.3f, 1.5f, 2, 3, 3.9f};

class Scan {
  public:
    Scan() : situations_(situations(folder_ / "recorded.json")) { show::record_to(folder_ / "recorded.json"); }

    const std::vector<Situation>& all() const { return situations_; }

    void dress(float scale) {
        scale_ = scale;
        constexpr Reader readers[] = {Reader::at_a_desk, Reader::in_a_hall, Reader::in_the_hand};
        h_.dress(random_() % 2 != 0, scale, readers[random_() % 3]);
    }
    void show(const Situation& situation) {
        situation_ = situation.name;
        h_.app.shown.session.ask(situation.setup);
        h_.app.shown.session.finish();
        h_.app.shown.view = {};
        h_.app.shown.view.compare = situation.compare;
        h_.app.shown.view.tour = situation.tour;
        if (situation.breakpoint) h_.app.shown.view.breakpoints = {situation.breakpoint};
        if (situation.opens) h_.app.shown.view.drawer = Drawer::controls;  // where a phone has the control to click
        h_.resize(1440, 900);
        for (int k = 0; k < 3; ++k) h_.draw(0);
        if (situation.opens) click(situation.opens);
    }
    /// Draws at this size, at a random step, with the mouse at a random place.
    void look(int width, int height) {
        View& v = h_.app.shown.view;
        v.tab = random_() % 2 ? Tab::code : Tab::program;
        v.detail = random_() % 2 ? Detail::values : Detail::counters;
        v.projector = h_.app.screen.theme.in_a_hall();
        v.drawer = static_cast<Drawer>(random_() % 5);
        v.zoom = random_() % 4 ? std::nullopt : std::optional(Spot{quarter(), quarter()});
        constexpr Stage stages[] = {Stage::wall, Stage::machine, Stage::time, Stage::row};
        v.stage = stages[random_() % std::size(stages)];
        const auto length = static_cast<std::uint64_t>(h_.app.shown.session.length());
        const Index at[] = {0, static_cast<Index>(random_() % (length + 1)), h_.app.shown.session.length()};
        h_.app.shown.playback.seek(at[random_() % 3]);
        ImGui::GetIO().MousePos = {static_cast<float>(random_() % 1500), static_cast<float>(random_() % 1000)};
        draw(width, height);
    }
    void draw(int width, int height) {
        CAPTURE(situation_, scale_, width, height, h_.app.shown.view.tab, h_.app.shown.view.detail,
                h_.app.shown.playback.position());
        h_.resize(width, height);
        // Twice, because ImGui learns the sizes of some things only by drawing them.
        for (int k = 0; k < 2; ++k) h_.draw(0.02);
        if (const std::string wrong = Headless::wrong_drawing(); !wrong.empty()) FAIL_CHECK(wrong);
    }
    Headless& headless() { return h_; }

    double quarter() { return static_cast<double>(random_() % 5) / 4; }

    std::mt19937 random_{1};

  private:
    void click(const char* place) {
        const ImVec4 r = h_.app.screen.places.at(place);
        ImGuiIO& io = ImGui::GetIO();
        io.MousePos = {r.x + r.z / 2, r.y + r.w / 2};
        for (const bool down : {false, true, false}) io.MouseDown[0] = down, h_.draw(0);
    }

    Folder folder_;
    std::vector<Situation> situations_;
    Headless h_;
    const char* situation_ = "";
    float scale_ = 1;
};

}  // namespace

TEST_CASE("A frame is drawn at every size, scale and theme", "[window][sizes]") {
    Scan scan;
    // As many small sizes as large ones.
    const auto pixels = [&](double most) {
        return static_cast<int>(std::exp(std::uniform_real_distribution<>(0, std::log(most))(scan.random_)));
    };
    for (std::size_t s = 0; s < std::size(scales); ++s) {
        scan.dress(scales[s]);
        for (std::size_t k = 0; k < scan.all().size(); ++k) {
            const Situation& situation = scan.all()[k];
            if (situation.slow ? scales[s] != 1 : !takes(s, k)) continue;
            scan.show(situation);
            for (std::uint64_t n = 0; n < seeds(24); ++n) scan.look(pixels(2000), pixels(1500));
        }
    }
}

TEST_CASE("Nothing is too narrow to be clicked in", "[window][sizes]") {
    Scan scan;
    for (const float scale : {0.8f, 1.2f, 1.6f}) {
        scan.dress(scale);
        scan.show(scan.all()[4]);  // a race: two strips
        scan.headless().app.shown.view.detail = Detail::counters;
        for (int width = 1; width <= 160; ++width) scan.draw(width, 700), scan.draw(width, 200);
    }
}

TEST_CASE("A frame is drawn at every width", "[.][scan]") {
    Scan scan;
    const auto every = static_cast<int>(number_from_environment("TILESCOPE_EVERY", 1));
    int frames = 0;
    for (const float scale : scales)
        for (const Situation& situation : scan.all()) {
            scan.dress(scale);
            scan.show(situation);
            for (int width = 1; width <= 600; width += every)
                for (const int height : {1, 9, 40, 100, 220, 480, 700, 1000})
                    if (!situation.slow || width % 20 == 0) scan.look(width, height), frames += 2;
        }
    std::printf("%d frames\n", frames);
}
