// An SM as a card: what it does, and what it holds in registers and SRAM.
#include <cmath>

#include "gui/draw/items.hpp"
#include "gui/draw/whole.hpp"
#include "gui/machine/figure.hpp"
#include "show/formula.hpp"
#include "show/sm_text.hpp"

namespace tilescope::gui::machine {
using namespace lab;
namespace {

struct Segment {
    TileId tile;
    Index written;
    Box box;
    Part part;
};

/// Registers or SRAM of one SM.
struct Band {
    Space space;
    Bytes used, capacity;
    ImU32 colour;
    float lines;  ///< for names that have no room in their tiles
    float door;   ///< the y below which what moves has left the SM
};

float line_height(const MachineFigure& f) { return Canvas::height(f.theme().small_text) + f.px(1); }

std::vector<Segment> segments(const MachineFigure& f, const SmState& sm, const Band& band, const Box& box) {
    std::vector<Segment> all;
    const Step* step = f.run.operation(sm);
    const float per_byte = box.w() / static_cast<float>(std::max<Bytes>(1, band.capacity));
    float x = box.x0;
    for (const TileState& tile : sm.tiles) {
        const RecordedTile& t = f.run.trace().tiles()[tile.tile];
        if (t.space != band.space) continue;
        const float width = std::max(f.px(3), static_cast<float>(t.bytes()) * per_byte);
        const float end = std::min(box.x1, x + width);
        all.push_back({tile.tile, tile.written, {x, box.y0, end, box.y1}, part_of(step, tile.tile)});
        x = end;
    }
    return all;
}

bool fits(const ImFont* font, const std::string& text, const Box& b, float pad) {
    return Canvas::size(font, text).x + 2 * pad <= b.w();
}

/// Returns whether the name had room.
bool draw_segment(const MachineFigure& f, const Step* step, const Segment& s) {
    const Theme& t = f.theme();
    const RecordedTile& tile = f.run.trace().tiles()[s.tile];
    const ImU32 hue = t.hue(tile.meaning), behind = Theme::mixed(t.panel, hue, 0.42f);
    const bool result = s.part == Part::result, coming = result && step->kind() == Kind::load;
    const Box b = {s.box.x0, s.box.y0, s.box.x1 - 1, s.box.y1};
    f.canvas.fill(b, coming ? Theme::faded(hue, 0.15f + 0.85f * f.arrived) : behind);
    // A result fills up from below.
    if (result && !coming) f.canvas.fill({b.x0, b.y1 - b.h() * f.arrived, b.x1, b.y1}, hue);
    if (s.part != Part::none)
        f.canvas.outline({b.x0, b.y0, std::max(b.x1, b.x0 + f.px(4)), b.y1}, t.highlight, f.px(2));

    ImFont* font = t.small_text;
    const float pad = f.px(3), line = Canvas::height(font);
    const ImU32 ink = Theme::ink_on(result && f.arrived > 0.5f ? hue : behind);
    const std::string size = tile_size(tile), mark = part_mark(step, s.part);
    if (!mark.empty() && fits(font, mark, b, pad) && b.h() >= 2 * line)
        f.canvas.text(font, {b.x1 - pad - Canvas::size(font, mark).x, b.y0 + f.px(1)}, ink, mark);
    if (!fits(font, tile.name, b, f.px(1)) || b.h() < 0.9f * line) return false;
    const bool two = fits(font, size, b, pad) && b.h() >= 2.2f * line;
    const float y = (b.y0 + b.y1) / 2 - (two ? line : line / 2);
    f.canvas.text_in(font, {b.x0, y, b.x1, y + line}, ink, tile.name, Align::centre);
    if (two) f.canvas.text_in(font, {b.x0, y + line, b.x1, y + 2 * line}, Theme::faded(ink, 0.8f), size, Align::centre);
    return two;
}

/// Names and sizes of the tiles whose segments are too narrow for them.
void draw_names(const MachineFigure& f, const std::vector<Segment>& narrow, const Box& area) {
    const Theme& t = f.theme();
    ImFont* font = t.small_text;
    const float line = line_height(f), swatch = f.px(7), gap = f.px(8);
    float x = area.x0, y = area.y0;
    for (std::size_t i = 0; i < narrow.size() && y + line <= area.y1 + 1; ++i) {
        const RecordedTile& tile = f.run.trace().tiles()[narrow[i].tile];
        const std::string label = tile.name + " " + tile_size(tile);
        const float width = swatch + f.px(4) + Canvas::size(font, label).x;
        const bool last_line = y + 2 * line > area.y1 + 1;
        const float room = area.x1 - (last_line && i + 1 < narrow.size() ? f.px(24) : 0);
        if (x > area.x0 && x + width > room) {
            if (last_line) {
                f.canvas.text(font, {x, y}, t.dim_ink, "+" + std::to_string(narrow.size() - i));
                return;
            }
            x = area.x0, y += line;
        }
        const float middle = y + line / 2;
        const Box square = {x, middle - swatch / 2, x + swatch, middle + swatch / 2};
        f.canvas.fill(square, t.hue(tile.meaning), f.px(1.5f));
        const bool acts = narrow[i].part != Part::none;
        if (acts) f.canvas.outline(square.grown(f.px(2)), t.highlight, f.px(1.5f), f.px(2));
        x = f.canvas.text_in(font, {x + swatch + f.px(4), y, area.x1, y + line}, acts ? t.ink : t.dim_ink, label) + gap;
    }
}

/// What is used of how much, the names that find no room in their tiles, and the tiles to scale.
void draw_band(MachineFigure& f, const SmState& sm, const Band& band, Box area) {
    const Theme& t = f.theme();
    ImFont* font = t.small_text;
    const Box title = area.cut_top(line_height(f) + f.px(1));
    const std::string used = space_used(band.used, band.capacity);
    const float x = f.canvas.text_in(font, title, band.colour, space_title(band.space));
    f.canvas.text_in(font, {x + f.px(6), title.y0, title.x1, title.y1}, t.dim_ink, used, Align::right);
    const Box names = area.cut_top(band.lines * line_height(f) + f.px(2));

    f.canvas.fill(area, Theme::faded(band.colour, 0.08f), f.px(3));
    const Step* step = f.run.operation(sm);
    std::vector<Segment> narrow;
    float end = area.x0;
    for (const Segment& s : segments(f, sm, band, area)) {
        if (!draw_segment(f, step, s)) narrow.push_back(s);
        if (step && step->moves_data() && step->tile() == s.tile)
            f.moves.push_back({.step = step,
                               .tile = s.box,
                               .gutter = area.x0 - f.px(5),
                               .door = band.door,
                               .missed = f.l2.missed(sm.steps.back())});
        if (hovered(s.box)) tooltip(about_tile(f.run, s.tile, s.written, s.part));
        end = s.box.x1;
    }
    f.canvas.outline(area, Theme::faded(band.colour, 0.7f), 1, f.px(3));
    const std::string room = space_free(band.used, band.capacity);
    const Box rest = {end, area.y0, area.x1, area.y1};
    if (sm.block && fits(font, room, rest, f.px(6)) && rest.h() >= 0.9f * Canvas::height(font))
        f.canvas.text_in(font, rest, t.dim_ink, room, Align::centre);
    draw_names(f, narrow, names);
}

void draw_title(const MachineFigure& f, const SmState& sm, Box& inner) {
    const Theme& t = f.theme();
    const Box title = inner.cut_top(Canvas::height(t.text) + f.px(2));
    const float x = f.canvas.text_in(t.text, title, sm.block ? t.ink : t.dim_ink, sm_name(sm));
    const float end =
        f.canvas.text_in(t.small_text, {x + f.px(6), title.y0, title.x1, title.y1}, t.dim_ink, sm_block(sm));
    f.canvas.text_in(t.small_text, {end + f.px(8), title.y0, title.x1, title.y1}, t.dim_ink, sm_line(sm), Align::right);
    const std::string does = formula(f.run, sm);
    const Box line = inner.cut_top(Canvas::height(t.text) + f.px(4));
    if (sm.block) f.canvas.text_in(t.text, line, does.empty() ? t.dim_ink : t.highlight, does.empty() ? "·" : does);
}

void draw_card(MachineFigure& f, const SmState& sm, const Box& card) {
    const Theme& t = f.theme();
    const GpuSpec& gpu = f.run.experiment().gpu;
    const std::string name = f.prefix + "card-" + std::to_string(sm.sm);
    ImGui::SetCursorScreenPos(card.min());
    if (hit_area(name, {card.w(), card.h()})) f.app.view.sm = sm.sm;
    f.app.place(name);

    const bool focus = sm.sm == f.focus;
    f.canvas.fill(card, Theme::mixed(t.panel, t.background, sm.block ? 0.45f : 0.8f), f.px(5));
    f.canvas.outline(card, focus ? t.highlight : t.panel_border, focus ? f.px(2) : 1, f.px(5));
    Box inner = {card.x0 + f.px(8), card.y0 + f.px(5), card.x1 - f.px(8), card.y1 - f.px(8)};
    draw_title(f, sm, inner);
    // Tiles in registers are many and small; their names get a second line before the bands grow.
    const float line = line_height(f), gap = f.px(8);
    const float spare = inner.h() - gap - 2 * (line + f.px(3)) - 2 * f.px(30);
    const float lines = std::clamp(std::floor(spare / line), 0.f, 3.f);
    const float in_sram = lines >= 2 ? 1.f : 0.f, in_registers = lines - in_sram;
    const float each = (inner.h() - gap - lines * line) / 2;
    const Box registers = inner.cut_top(each + in_registers * line);
    inner.cut_top(gap);
    draw_band(f, sm, {Space::registers, sm.registers_used, gpu.registers_per_sm, t.registers, in_registers, card.y1},
              registers);
    draw_band(f, sm, {Space::sram, sm.sram_used, gpu.sram_per_block, t.sram, in_sram, card.y1}, inner);
}

}  // namespace

void draw_sm_cards(MachineFigure& f, Box area) {
    const auto& sms = f.run.moment().sms;
    if (sms.empty()) {
        f.canvas.text_in(f.theme().text, area, f.theme().dim_ink, "no thread block was recorded", Align::centre);
        return;
    }
    const float gap = f.px(8);
    const auto all = static_cast<Index>(sms.size());
    const auto room = [&](float least) { return whole((area.w() + gap) / (f.px(least) + gap), 1, 4); };
    // Somewhat narrower ones where that shows them all.
    const Index n = room(155) >= all ? all : room(190);
    // Whole pages, so that a click on a card leaves it where it is.
    const Index first = std::min(f.focus / n * n, all - n);
    const float width = std::floor((area.w() - gap * static_cast<float>(n - 1)) / static_cast<float>(n));
    for (Index i = 0; i < n; ++i) {
        const float x = area.x0 + static_cast<float>(i) * (width + gap);
        SmState sm = sms[static_cast<std::size_t>(first + i)];
        if (f.over) sm = SmState{sm.sm, nullptr, 0, 0, 0, {}, {}};
        draw_card(f, sm, {x, area.y0, x + width, area.y1});
    }
}

}  // namespace tilescope::gui::machine
