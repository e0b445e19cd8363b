// In a hall, all words that are not on the stage: where the code is, what happens there, and the drawers' names.
#include <algorithm>
#include <cmath>

#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/panels.hpp"
#include "show/code_text.hpp"
#include "show/narration.hpp"

namespace tilescope::gui {
namespace {

constexpr int code_lines = 3;

float code_line(const Theme& t) { return t.mono->FontSize + t.px(2); }

const SmState* focus(const App& app) {
    const Run* run = app.session.run();
    if (!run || app.view.sm >= static_cast<Index>(run->moment().sms.size())) return nullptr;
    return &run->moment().sms[static_cast<std::size_t>(app.view.sm)];
}

/// The current line between the one before and the one after.
void draw_code(const App& app, Box area) {
    const Theme& t = app.theme;
    const Canvas c(t);
    const Run* run = app.session.run();
    const auto& code = (run ? run->algorithm() : app.session.algorithm()).code;
    const SmState* sm = focus(app);
    const auto at = std::find_if(code.begin(), code.end(),
                                 [&](const CodeLine& l) { return sm && l.number == sm->line && sm->line != 0; });
    const auto now = at == code.end() ? -1 : at - code.begin();
    const auto last = std::ssize(code) - code_lines;
    const auto first = std::clamp<std::ptrdiff_t>(now - 1, 0, std::max<std::ptrdiff_t>(0, last));
    const float gutter = Canvas::width(t.mono, "00") + c.px(10);
    for (auto k = first; k < std::min(first + code_lines, std::ssize(code)); ++k) {
        const CodeLine& l = code[static_cast<std::size_t>(k)];
        const Box line = area.cut_top(code_line(t));
        if (k == now) {
            c.fill(line, Theme::faded(t.highlight, t.light ? 0.16f : 0.2f), c.px(3));
            c.fill({line.x0, line.y0, line.x0 + c.px(3), line.y1}, t.highlight);
        }
        const ImU32 ink = k == now ? t.ink : t.dim_ink;
        c.text_in(t.mono, {line.x0, line.y0, line.x0 + gutter, line.y1}, t.dim_ink, std::to_string(l.number),
                  Align::right);
        c.text_in(t.mono, {line.x0 + gutter + c.px(10), line.y0, line.x1 - c.px(4), line.y1}, ink, l.code);
    }
}

struct DrawerName {
    Drawer drawer;
    const char *name, *place, *tip;
};
constexpr DrawerName names[] = {{Drawer::controls, "Controls", "drawer-controls", "Controls and views (Tab)"},
                                {Drawer::code, "Code", "drawer-code", "All of the code (C)"},
                                {Drawer::detail, "Numbers", "drawer-detail", "Values and counters (V)"}};

float drawers_width(const Theme& t) {
    float width = 0;
    for (const DrawerName& n : names) width = std::max(width, Canvas::width(t.small_text, n.name));
    return width + t.px(2);
}

/// What opens by a click or a key.
void draw_drawers(App& app, const Box& area) {
    const Theme& t = app.theme;
    const Canvas c(t);
    Box rest = area;
    for (const DrawerName& n : names) {
        const Box line = rest.cut_top(area.h() / static_cast<float>(std::size(names)));
        ImGui::SetCursorScreenPos(line.min());
        if (hit_area(n.place, {line.w(), line.h()})) turn(n.drawer, app.session, app.view);
        app.place(n.place);
        tip(app, n.tip);
        const bool lit = open_drawer(app.session, app.view) == n.drawer || hovered(line);
        c.text_in(t.small_text, line, lit ? t.ink : t.dim_ink, n.name, Align::right);
    }
}

}  // namespace

float strip_height(const App& app) {
    const float code = code_lines * code_line(app.theme) + 2 * ImGui::GetStyle().WindowPadding.y;
    return std::max(code, scene_height(app));
}

void strip(App& app) {
    const Theme& t = app.theme;
    const Canvas c(t);
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    if (room.x < 20 || room.y < 20) return;
    Box area = {at.x, at.y, at.x + room.x, at.y + room.y};
    const float drawers = drawers_width(t);
    draw_drawers(app, {area.x1 - drawers, area.y0, area.x1, area.y0 + code_lines * code_line(t)});
    area.x1 -= drawers + c.px(16);
    const float code = area.w() * (app.scene ? 0.36f : 0.45f);
    draw_code(app, {area.x0, area.y0, area.x0 + code, area.y1});
    area.x0 += code + c.px(16);
    if (!app.scene) {
        c.paragraph(t.text, area.min(), t.ink, what_happens_now(app.session, focus(app)), area.w(),
                    static_cast<int>(area.h() / t.text->FontSize));
        return;
    }
    ImGui::SetCursorScreenPos(area.min());
    ImGui::BeginChild("words", {area.w(), area.h()}, false, ImGuiWindowFlags_NoScrollbar);
    scene_panel(app);
    ImGui::EndChild();
}

}  // namespace tilescope::gui
