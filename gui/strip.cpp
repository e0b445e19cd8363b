// In a hall and on a phone, all words that are not on the stage: the lines of code, what happens there, and the
// drawers' names.
#include <algorithm>
#include <cmath>

#include "algorithms/contract/pseudo_code.hpp"
#include "core/text/message.hpp"
#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/whole.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/panels.hpp"
#include "show/words/code_text.hpp"
#include "show/words/narration.hpp"

namespace tilescope::gui {
using text::message;
namespace {

constexpr std::size_t least_rows = 3;

float row_height(const Theme& t) { return t.mono->FontSize + t.px(2); }

/// The line that is executed, or the line whose tile does not fit; 0: none.
std::uint16_t line_now(const Shown& shown) {
    if (const auto& overflow = shown.session.overflow()) return overflow->error.line;
    const SmState* sm = shown.focus();
    return sm ? sm->line : 0;
}

/// All lines of code. A line that is too long continues in the next row.
struct Lines {
    float gutter, character, width;
    std::vector<std::vector<std::string_view>> parts;
    std::vector<std::size_t> heights = {};  ///< in rows

    Lines(const Theme& t, std::span<const CodeLine> code, float room)
        : gutter(Canvas::width(t.mono, "00") + t.px(20)), character(Canvas::width(t.mono, "0")), width(room) {
        const auto fit = static_cast<std::size_t>(whole((width - gutter - t.px(4)) / character, 8, 1000));
        for (const CodeLine& l : code) {
            parts.push_back(code_parts(l.code, fit, fit));
            heights.push_back(std::max<std::size_t>(1, parts.back().size()));
        }
    }
    std::size_t highest() const { return *std::max_element(heights.begin(), heights.end()); }
};

/// The width of the code, where the strip without the drawers' names is `room` wide.
float code_width(const Shown& shown, float room) { return room * (shown.scene ? 0.36f : 0.45f); }

/// The line that is executed, and as many lines around it as there is room for.
void draw_code(const Shown& shown, const Screen& screen, const Box& area) {
    const Theme& t = screen.theme;
    const Canvas c(t);
    const std::vector<CodeLine> code = code_of(shown.session);
    const auto at = std::find_if(code.begin(), code.end(),
                                 [line = line_now(shown)](const CodeLine& l) { return line != 0 && l.number == line; });
    const auto now = at == code.end() ? -1 : at - code.begin();
    const Lines lines(t, code, area.w());
    const CodeExcerpt excerpt = code_excerpt(lines.heights, now, static_cast<std::size_t>(area.h() / row_height(t)));
    Box rest = area;
    for (std::size_t k = excerpt.first; k < excerpt.end; ++k) {
        const bool current = static_cast<std::ptrdiff_t>(k) == now;
        const Box block = rest.cut_top(static_cast<float>(lines.heights[k]) * row_height(t));
        if (current) {
            c.fill(block, Theme::faded(t.highlight, t.light ? 0.16f : 0.2f), c.px(3));
            c.fill({block.x0, block.y0, block.x0 + c.px(3), block.y1}, t.highlight);
        }
        Box row = {block.x0, block.y0, block.x1, block.y0 + row_height(t)};
        c.text_in(t.mono, {row.x0, row.y0, row.x0 + lines.gutter - c.px(10), row.y1}, t.dim_ink,
                  std::to_string(code[k].number), Align::right);
        const auto in = static_cast<float>(indent_of(code[k].code));
        for (const std::string_view part : lines.parts[k]) {
            const bool first = part.data() == lines.parts[k].front().data();
            const float x = row.x0 + lines.gutter + (in + (first ? 0 : 2)) * lines.character;
            c.text(t.mono, {x, row.centre().y - t.mono->FontSize / 2}, current ? t.ink : t.dim_ink, part);
            row = row.moved(0, row_height(t));
        }
    }
}

struct DrawerName {
    Drawer drawer;
    const char *name, *place, *tip;
};
constexpr DrawerName names[] = {{Drawer::controls, "drawers.controls", "drawer-controls", "drawers.about_controls"},
                                {Drawer::code, "drawers.code", "drawer-code", "drawers.about_code"},
                                {Drawer::detail, "drawers.detail", "drawer-detail", "drawers.about_detail"}};

float drawers_width(const Theme& t) {
    float width = 0;
    for (const DrawerName& n : names) width = std::max(width, Canvas::width(t.small_text, message(n.name)));
    return width + t.px(2);
}

/// The part of the width that is not for words.
float beside_words(const Theme& t) { return drawers_width(t) + t.px(16); }

/// The names of the drawers, which open by a click or a key.
void draw_drawers(Shown& shown, Screen& screen, const Box& area) {
    const Theme& t = screen.theme;
    const Canvas c(t);
    Box rest = area;
    for (const DrawerName& n : names) {
        const Box line = rest.cut_top(area.h() / static_cast<float>(std::size(names)));
        ImGui::SetCursorScreenPos(line.min());
        if (hit_area(n.place, {line.w(), line.h()})) turn(shown, screen, n.drawer);
        screen.place(n.place);
        tip(screen, message(n.tip));
        const bool lit = drawer_of(shown, screen) == n.drawer || hovered(line);
        c.text_in(t.small_text, line, lit ? t.ink : t.dim_ink, message(n.name), Align::right);
    }
}

/// What happens, or what the scene says.
void draw_words(Shown& shown, Screen& screen, const Box& area) {
    const Theme& t = screen.theme;
    if (!shown.scene) {
        Canvas(t).paragraph(t.text, area.min(), t.ink, what_happens_now(shown.session, shown.focus()), area.w(),
                            static_cast<int>(area.h() / t.text->FontSize));
        return;
    }
    ImGui::SetCursorScreenPos(area.min());
    ImGui::BeginChild("words", {area.w(), area.h()}, false, ImGuiWindowFlags_NoScrollbar);
    scene_panel(shown, screen);
    ImGui::EndChild();
}

/// On a phone: as tall as a finger is wide.
float tabs_height(const Theme& t) { return t.px(36); }

/// The drawers' names side by side, above the one that is open.
void draw_tabs(Shown& shown, Screen& screen, const Box& area) {
    const Theme& t = screen.theme;
    const Canvas c(t);
    const float width = area.w() / static_cast<float>(std::size(names));
    float x = area.x0;
    for (const DrawerName& n : names) {
        const Box name = {x, area.y0, x += width, area.y1};
        ImGui::SetCursorScreenPos(name.min());
        if (hit_area(n.place, {name.w(), name.h()})) turn(shown, screen, n.drawer);
        screen.place(n.place);
        const bool open = drawer_of(shown, screen) == n.drawer;
        c.text_in(t.title, name, open ? t.ink : t.dim_ink, message(n.name), Align::centre);
        c.fill({name.x0, name.y1 - c.px(3), name.x1 - c.px(6), name.y1}, open ? t.highlight : t.faint);
    }
}

}  // namespace

/// High enough for the longest line of code, so that nothing moves while other lines are executed. On a phone there
/// is no code, and there are words only where no drawer is open.
float strip_height(const Shown& shown, const Screen& screen, float width) {
    const Theme& t = screen.theme;
    const ImVec2 padding = ImGui::GetStyle().WindowPadding;
    if (reader_of(shown, screen) == Reader::in_the_hand) {
        const float words = shown.scene ? scene_height(shown, screen, width - 2 * padding.x) : 4 * t.text->FontSize;
        return 2 * padding.y + tabs_height(t) + (drawer_of(shown, screen) == Drawer::none ? words + t.px(6) : 0);
    }
    const float room = std::max(20.f, width - 2 * padding.x - beside_words(t));
    const std::vector<CodeLine> code = code_of(shown.session);
    const std::size_t rows = code.empty() ? 0 : Lines(t, code, code_width(shown, room)).highest();
    const float high = static_cast<float>(std::max(least_rows, rows)) * row_height(t) + 2 * padding.y;
    return std::max(high, scene_height(shown, screen, room - code_width(shown, room)));
}

void strip(Shown& shown, Screen& screen) {
    const Theme& t = screen.theme;
    const Canvas c(t);
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    if (room.x < 20 || room.y < 20) return;
    Box area = {at.x, at.y, at.x + room.x, at.y + room.y};
    if (reader_of(shown, screen) == Reader::in_the_hand) {
        const float words = std::max(0.f, area.h() - tabs_height(t));
        if (drawer_of(shown, screen) == Drawer::none)
            draw_words(shown, screen, {area.x0, area.y0, area.x1, area.y0 + words});
        return draw_tabs(shown, screen, {area.x0, area.y0 + words, area.x1, area.y1});
    }
    const float high = static_cast<float>(least_rows) * row_height(t);
    draw_drawers(shown, screen, {area.x1 - drawers_width(t), area.y0, area.x1, area.y0 + high});
    area.x1 -= beside_words(t);
    const float code = code_width(shown, area.w());
    draw_code(shown, screen, {area.x0, area.y0, area.x0 + code, area.y1});
    area.x0 += code + c.px(16);
    draw_words(shown, screen, area);
}

}  // namespace tilescope::gui
