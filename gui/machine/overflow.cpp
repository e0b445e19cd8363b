// What does not fit on chip or in HBM, to scale, and the ways out.
#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "gui/machine/tank.hpp"
#include "gui/panels.hpp"
#include "show/state/setups.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui::machine {
using namespace lab;
namespace {

/// Writes a tile's name, and its size where there is room. Writes nothing where the name has no room.
void draw_name(const Canvas& c, const LiveTile& tile, const Box& b, ImU32 ink) {
    const Theme& t = c.theme();
    const float line = Canvas::height(t.text), half = line / 2, y = b.centre().y;
    if (Canvas::size(t.text, tile.name).x + 4 > b.w()) return;
    const std::string bytes = tile_size(tile);
    const bool two = Canvas::size(t.small_text, bytes).x + 6 <= b.w();
    c.text_in(t.text, {b.x0, y - (two ? line : half), b.x1, y + (two ? 0 : half)}, ink, tile.name, Align::centre);
    if (two) c.text_in(t.small_text, {b.x0, y, b.x1, y + line}, ink, bytes, Align::centre);
}

void draw_tiles(const Canvas& c, const Overflow& o, const Box& bar, float per_byte) {
    const Theme& t = c.theme();
    const OutOfChipMemory& e = o.error;
    float x = bar.x0;
    for (const LiveTile& tile : e.live) {
        const Box b = {x, bar.y0, x + static_cast<float>(tile.bytes) * per_byte, bar.y1};
        const ImU32 fill = Theme::mixed(t.panel, t.hue(o.meaning_of(tile.name)), 0.5f);
        c.fill({b.x0, b.y0, std::max(b.x0 + 1, b.x1 - 1), b.y1}, fill);
        draw_name(c, tile, b, Theme::ink_on(fill));
        if (hovered(b)) tooltip(about_tile(tile));
        x = b.x1;
    }
    const Box wanted = {x, bar.y0, x + static_cast<float>(e.wanted.bytes) * per_byte, bar.y1};
    c.fill(wanted, Theme::faded(t.bad, 0.18f));
    c.hatch(wanted, Theme::faded(t.bad, 0.5f), c.px(9));
    c.outline(wanted, t.bad, c.px(2));
    draw_name(c, e.wanted, wanted, t.ink);
    if (hovered(wanted)) tooltip(message("machine_panel.does_not_fit", about_tile(e.wanted)));
}

/// The space up to its capacity, and the tile that is wanted beyond it.
void draw_space(const Canvas& c, const Overflow& o, Box area) {
    const Theme& t = c.theme();
    const OutOfChipMemory& e = o.error;
    const ImU32 colour = e.space == Space::sram ? t.sram : t.registers;
    const Bytes need = e.used + e.wanted.bytes;
    const float per_byte = area.w() / static_cast<float>(std::max(need, e.capacity));
    const float line = Canvas::height(t.text) + c.px(4), full = area.x0 + static_cast<float>(e.capacity) * per_byte;
    const Box above = area.cut_top(line);
    Box below = area;
    const Box bar = below.cut_top(area.h() - line);
    c.fill({bar.x0, bar.y0, full, bar.y1}, Theme::faded(colour, 0.1f));
    draw_tiles(c, o, bar, per_byte);
    c.outline({bar.x0, bar.y0, full, bar.y1}, colour, c.px(1.5f));
    c.line({full, above.y0}, {full, below.y1}, t.ink, c.px(2));

    const std::string have = capacity_text(e);
    const float width = Canvas::size(t.text, have).x + c.px(8);
    const Box left = {area.x0, above.y0, full - c.px(6), above.y1},
              right = {full + c.px(6), above.y0, area.x1, above.y1};
    width <= left.w() ? c.text_in(t.text, left, colour, have, Align::right) : c.text_in(t.text, right, colour, have);
    const std::string too_much = need_text(e);
    const Box beyond = {full + c.px(6), below.y0, below.x1, below.y1},
              within = {below.x0, below.y0, full - c.px(6), below.y1};
    const bool room = Canvas::size(t.text, too_much).x <= beyond.w();
    c.text_in(t.text, room ? beyond : within, t.bad, too_much, Align::right);
}

void explanation(const Screen& screen, const std::string& text) {
    ImGui::PushFont(screen.theme.mono);
    text_wrapped(text);
    ImGui::PopFont();
}

void use(Shown& shown, const Tiling& tiling) {
    Setup s = shown.session.setup();
    set_flag(s.options, "br", std::to_string(tiling.br));
    set_flag(s.options, "bc", std::to_string(tiling.bc));
    shown.session.ask(s);
}

/// A button for a way out of the overflow. Returns whether it was clicked.
bool way_out(Screen& screen, const char* place, const std::string& text) {
    ImGui::PushStyleColor(ImGuiCol_Button, Theme::mixed(screen.theme.panel, screen.theme.good, 0.35f));
    const bool taken = push_button(text);
    ImGui::PopStyleColor();
    screen.place(place);
    return taken;
}

void draw_overflow(Shown& shown, Screen& screen, const Overflow& o) {
    const Theme& t = screen.theme;
    const Canvas c(t);
    ImGui::PushFont(t.title);
    text_wrapped(overflow_title(o));
    ImGui::PopFont();
    ImGui::Spacing();
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    const float height = std::clamp(room.y * 0.28f, t.px(90), t.px(220));
    draw_space(c, o, {at.x, at.y, at.x + room.x, at.y + height});
    ImGui::Dummy({room.x, height + t.px(6)});
    std::optional<Tiling> chosen;
    if (o.fitting) {
        if (way_out(screen, "fix-tiling", fix_text(*o.fitting))) chosen = o.fitting;
        ImGui::Spacing();
    }
    explanation(screen, o.explanation);
    if (chosen) use(shown, *chosen);
}

void draw_spilling(Shown& shown, Screen& screen, const Spill& s) {
    const Theme& t = screen.theme;
    ImGui::PushFont(t.title);
    text_wrapped(spill_title(s));
    ImGui::PopFont();
    text_wrapped(spill_reason());
    ImGui::Spacing();
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    const float below = 2 * ImGui::GetFrameHeightWithSpacing();
    const float height = std::clamp(room.y - below, t.px(90), t.px(560));
    draw_spill(Canvas(t), s, {at.x, at.y, at.x + room.x, at.y + height});
    ImGui::Dummy({room.x, height + t.px(6)});
    Setup setup = shown.session.setup();
    if (s.other) {
        if (way_out(screen, "fix-algorithm", other_text(s))) setup = with_algorithm(setup, s.other->first);
        if (s.shorter) ImGui::SameLine();
    }
    if (s.shorter && way_out(screen, "fix-seq", shorter_text(s)))
        set_flag(setup.options, "seq", std::to_string(*s.shorter));
    shown.session.ask(setup);
}

void draw_problem(const Screen& screen, const std::string& problem) {
    const Theme& t = screen.theme;
    const Canvas c(t);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, pad = t.px(12);
    const std::string words(readable(problem_text(problem)));
    const float height = t.text->CalcTextSizeA(t.text->FontSize, width, width - 2 * pad, words.c_str()).y + 2 * pad;
    const Box box = {at.x, at.y, at.x + width, at.y + height};
    c.fill(box, Theme::faded(t.bad, 0.08f), t.px(6));
    c.fill({box.x0, box.y0, box.x0 + t.px(4), box.y1}, t.bad, t.px(2));
    ImGui::SetCursorScreenPos({at.x + pad, at.y + pad});
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width - 2 * pad);
    text_line(words);
    ImGui::PopTextWrapPos();
}

}  // namespace

void overflow_panel(Shown& shown, Screen& screen) {
    if (shown.session.overflow())
        draw_overflow(shown, screen, *shown.session.overflow());
    else if (shown.session.spill())
        draw_spilling(shown, screen, *shown.session.spill());
    else if (!shown.session.problem().empty())
        draw_problem(screen, shown.session.problem());
}

}  // namespace tilescope::gui::machine
