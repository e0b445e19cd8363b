// The words of a scene, below the stage.
#include "core/text/message.hpp"
#include "gui/draw/canvas.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/panels.hpp"

namespace tilescope::gui {
using text::message;
namespace {

void scene_buttons(Shown& shown, Screen& screen) {
    struct Way {
        const char *label, *place;
        int by;
    };
    for (const Way& w : {Way{"<", "scene-previous", -1}, Way{">", "scene-next", 1}}) {
        if (push_button(w.label)) shown.turn_scene(w.by);
        screen.place(w.place);
        ImGui::SameLine();
    }
    if (push_button("×")) shown.scene.reset();
    screen.place("scene-close");
}

/// How many lines of each text there is room for.
struct LineCounts {
    int title, caption, question;
};

float side_of(const Theme& t) { return t.px(110); }

/// On a phone, as many lines as the words and the answer need. Else the numbers are fixed, so that the stage does not
/// move.
LineCounts lines_of(const Shown& shown, const Screen& screen, float width) {
    if (reader_of(shown, screen) != Reader::in_the_hand) return {1, 2, 3};
    const Theme& t = screen.theme;
    const auto lines = [](const ImFont* font, const std::string& text, float room) {
        return static_cast<int>(Canvas::broken(font, text, room).size());
    };
    const Scene s = *shown.told_scene();
    return {lines(t.title, scene_title(s), width - side_of(t)), lines(t.text, s.caption, width),
            lines(t.text, s.question + " " + s.answer, width)};
}

}  // namespace

float scene_height(const Shown& shown, const Screen& screen, float width) {
    if (!shown.scene) return 0;
    const Theme& t = screen.theme;
    const LineCounts lines = lines_of(shown, screen, width);
    return static_cast<float>(lines.title) * t.title->FontSize +
           static_cast<float>(lines.caption + lines.question) * t.text->FontSize + t.px(30);
}

void scene_panel(Shown& shown, Screen& screen) {
    const NotedAs as("scene");
    const Theme& t = screen.theme;
    const Canvas c(t);
    const Scene scene = *shown.told_scene();
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    const LineCounts lines = lines_of(shown, screen, room.x);
    const float width = room.x - side_of(t);
    c.line({at.x, at.y + t.px(2)}, {at.x + room.x, at.y + t.px(2)}, t.panel_border);
    float y = at.y + t.px(8);
    c.paragraph(t.title, {at.x, y}, t.ink, scene_title(scene), width, lines.title);
    y += static_cast<float>(lines.title) * t.title->FontSize + t.px(4);
    y += static_cast<float>(c.paragraph(t.text, {at.x, y}, t.ink, scene.caption, room.x, lines.caption)) *
             t.text->FontSize +
         t.px(3);
    if (!scene.question.empty()) {
        const std::string said = shown.revealed ? scene.question + " " + scene.answer : scene.question;
        ImFont* font = Canvas::broken(t.text, said, room.x).size() <= 3 ? t.text : t.small_text;
        const float left = at.y + room.y - y;
        c.paragraph(font, {at.x, y}, t.highlight, said, room.x, std::max(1, static_cast<int>(left / font->FontSize)));
        ImGui::SetCursorScreenPos({at.x, y});
        if (hit_area("scene-reveal", {room.x, 3 * t.text->FontSize})) shown.revealed = !shown.revealed;
        screen.place("scene-reveal");
        tip(screen, message(shown.revealed ? "scene_panel.hide" : "scene_panel.reveal"));
    }
    ImGui::SetCursorScreenPos({at.x + width, at.y + t.px(6)});
    scene_buttons(shown, screen);  // last, because they may change the scene
}

}  // namespace tilescope::gui
