// Scenes in a window: both walls of a race have one scale, and the words are about what is shown.
#include "show/state/scenes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/headless.hpp"

using namespace tilescope;
using namespace tilescope::gui;

namespace {

void show_scene(Headless& h, const std::string& name, Stage stage = Stage::wall) {
    h.app.shown.open_scene(scene_named(name));
    h.app.shown.session.finish();
    h.app.shown.view.stage = stage;
    for (int k = 0; k < 3; ++k) h.draw(0);
}

/// All that the frame says about the scene.
std::string said(Headless& h) {
    h.draw(0);
    std::string all;
    for (const auto& [panel, notes] : h.app.screen.notes.panels())
        for (const Note& n : panel == "scene" ? notes : std::vector<Note>()) all += n.text + '\n';
    return all;
}

}  // namespace

TEST_CASE("walls of a race are to one scale, at every size", "[window][scenes]") {
    Headless h;
    Index compared = 0;
    for (const Scene& scene : scenes()) {
        if (scene.state.setup.rival.empty()) continue;
        show_scene(h, scene.name);
        for (const auto& [width, height] : {std::pair(1440, 900), {1920, 1080}, {1000, 700}, {800, 600}}) {
            for (const bool in_a_hall : {false, true}) {
                h.app.shown.view.projector = in_a_hall;
                h.dress(false, 1, in_a_hall ? Reader::in_a_hall : Reader::at_a_desk);
                h.resize(width, height);
                for (int k = 0; k < 3; ++k) h.draw(0);
                INFO(scene.name << ", " << width << " x " << height << (in_a_hall ? " in a hall" : ""));
                const Run& run = *h.app.shown.session.run();
                const Wall wall(run, head_of_sm(run, h.app.shown.view.sm));
                for (const WallEdge& e : wall.edges()) {
                    const auto at = h.app.screen.places.find("edge-" + e.name),
                               other = h.app.screen.places.find("rival-edge-" + e.name);
                    // Rows of tiles with trays below them are farther apart.
                    if (at == h.app.screen.places.end() || other == h.app.screen.places.end()) continue;
                    if (e.by_row() && wall.parts().count() > 0) continue;
                    const float own = e.by_row() ? at->second.w : at->second.z;
                    CHECK(own == Approx(e.by_row() ? other->second.w : other->second.z).margin(0.5));
                    ++compared;
                }
            }
        }
    }
    CHECK(compared > 100);
}

TEST_CASE("words of a scene do not outlive its setup, nor a file that is opened", "[window][scenes]") {
    const Folder folder;
    Headless h;
    const Scene race = scene_named("race-by-time");
    show_scene(h, race.name);
    CHECK(said(h).find("changed") == std::string::npos);
    h.app.shown.session.set("heads", "128");
    h.app.shown.session.finish();
    CHECK(said(h).find("changed: heads 128") != std::string::npos);
    CHECK(said(h).find("Before that: The same head") != std::string::npos);
    h.app.shown.session.set("heads", "1");
    h.app.shown.session.finish();
    CHECK(said(h).find("changed") == std::string::npos);
    const Scene walls = scene_named("columns-and-rows");
    save_shown(walls.state, &walls, folder / "walls.json");
    save_shown(walls.state, nullptr, folder / "state.json");
    show_scene(h, "causal-tiles");
    h.app.shown.open(read_saved(folder / "walls.json"));
    h.app.shown.session.finish();
    CHECK(said(h).find(walls.title.substr(0, 20)) != std::string::npos);
    CHECK(said(h).find("Causal") == std::string::npos);
    h.app.shown.open(read_saved(folder / "state.json"));
    h.app.shown.session.finish();
    CHECK(said(h).empty());
}
