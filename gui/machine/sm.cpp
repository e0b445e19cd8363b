// The SM in focus, magnified: what it does, and what it holds in registers and SRAM, lying as on the wall.
#include <algorithm>
#include <cmath>

#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "gui/machine/crossing.hpp"
#include "show/words/formula.hpp"

namespace tilescope::gui::machine {
using namespace lab;
namespace {

using Place = Held::Place;

bool fits(const ImFont* font, const std::string& text, const Box& b) {
    return Canvas::width(font, text) + 4 <= b.w() && Canvas::height(font) <= b.h();
}

/// Tiles that lie side by side in one space.
struct Neighbours {
    Place place;
    Space space;
    Box box;
};

std::vector<Neighbours> neighbours(const std::vector<DrawnHeld>& all) {
    const auto row = [](Place p) { return p == Place::middle || p == Place::between || p == Place::right; };
    std::vector<Neighbours> groups;
    for (const DrawnHeld& d : all) {
        const Held& h = *d.held;
        const bool joins = !groups.empty() && groups.back().space == h.space &&
                           (groups.back().place == h.place || (row(groups.back().place) && row(h.place)));
        if (!joins) groups.push_back({h.place, h.space, d.slot});
        Box& b = groups.back().box;
        b = {std::min(b.x0, d.slot.x0), std::min(b.y0, d.slot.y0), std::max(b.x1, d.slot.x1),
             std::max(b.y1, d.slot.y1)};
    }
    return groups;
}

/// An index into `places` of draw_spaces(): above, beside, below.
std::size_t best_place_of_name(Place place) {
    switch (place) {
        case Place::left:
            return 0;
        case Place::above:
        case Place::below:
            return 1;
        default:
            return 2;
    }
}

/// Registers and SRAM as areas around their tiles, each with its name where nothing else is.
void draw_spaces(const MachineFigure& f, const std::vector<DrawnHeld>& all, const Box& area) {
    const Theme& t = f.theme();
    ImFont* font = t.small_text;
    const float line = Canvas::height(font);
    std::vector<Box> taken;
    for (const DrawnHeld& d : all) {
        taken.push_back(d.slot);
        // The names of statistics stand above their tiles.
        if (d.held->place == Place::between)
            taken.push_back({d.slot.x0, d.slot.y0 - line - f.px(7), d.slot.x1, d.slot.y0});
    }
    for (const Neighbours& n : neighbours(all)) {
        const bool sram = n.space == Space::sram;
        const Box b = n.box.grown(gap_in(f, area) / 3);
        f.canvas.fill(b, Theme::faded(sram ? t.sram : t.registers, 0.14f), f.px(4));
        f.canvas.outline(b, sram ? t.sram : t.registers, f.px(1.2f), f.px(4));
        const std::string name = space_title(n.space);
        const float width = Canvas::width(font, name), y = b.centre().y - line / 2;
        // Above, beside or below: the best place if it is free, else above, else nowhere.
        const ImVec2 places[] = {{b.x0, b.y0 - line - f.px(2)}, {b.x1 + f.px(5), y}, {b.x1 - width, b.y1 + f.px(2)}};
        const auto is_free = [&](ImVec2 at) {
            const Box word = {at.x, at.y, at.x + width, at.y + line};
            return word.x0 >= area.x0 - f.px(5) && word.x1 <= area.x1 + f.px(5) && word.y1 <= area.y1 + f.px(9) &&
                   std::none_of(taken.begin(), taken.end(), [&](const Box& other) {
                       return other.x0 < word.x1 && word.x0 < other.x1 && other.y0 < word.y1 && word.y0 < other.y1;
                   });
        };
        const ImVec2 first = places[best_place_of_name(n.place)], at = is_free(first) ? first : places[0];
        if (area.h() < f.px(110) || !is_free(at)) continue;
        taken.push_back({at.x, at.y, at.x + width, at.y + line});
        f.canvas.text(font, at, Theme::mixed(sram ? t.sram : t.registers, t.ink, 0.3f), name);
    }
}

void draw_names(const MachineFigure& f, const DrawnHeld& d, ImU32 ink) {
    const Theme& t = f.theme();
    const Held& h = *d.held;
    const Box& b = d.box;
    const float large = Canvas::height(t.title), line = Canvas::height(t.small_text);
    const std::string& name = fits(t.small_text, h.name, b) ? h.name : h.brief;
    if (h.place == Place::between || !fits(t.small_text, name, b)) {
        const Box above = {d.slot.centre().x - f.px(60), d.slot.y0 - line - f.px(7), d.slot.centre().x + f.px(60),
                           d.slot.y0 - f.px(7)};
        if (h.place == Place::between || h.place == Place::right)
            f.canvas.text_in(t.small_text, above, h.part == Part::none ? t.dim_ink : t.ink, h.name, Align::centre);
        return;
    }
    ImFont* font = fits(t.title, name, b) ? t.title : t.small_text;
    std::vector<std::string> notes;
    float height = font == t.title ? large : line;
    for (const std::string& n : h.notes)
        if (fits(t.small_text, n, b) && height + line + f.px(8) <= b.h()) notes.push_back(n), height += line;
    float y = b.centre().y - height / 2;
    const auto write = [&](ImFont* with, const std::string& text, ImU32 colour) {
        f.canvas.text_in(with, {b.x0, y, b.x1, y + Canvas::height(with)}, colour, text, Align::centre);
        y += Canvas::height(with);
    };
    write(font, name, ink);
    for (const std::string& n : notes) write(t.small_text, n, Theme::faded(ink, 0.85f));
}

/// The result has a solid frame, operands have a dashed one. draw_tile() dims all other tiles.
void frame(const MachineFigure& f, const Box& b, Part part) {
    const Theme& t = f.theme();
    if (part == Part::result) f.canvas.outline(b.grown(f.px(1)), t.now, f.px(3));
    if (part != Part::first && part != Part::second) return;
    const float dash = f.px(7), space = f.px(4), width = f.px(2);
    const ImVec2 corners[] = {b.min(), {b.x1, b.y0}, b.max(), {b.x0, b.y1}, b.min()};
    for (int k = 0; k < 4; ++k) f.canvas.strokes(corners[k], corners[k + 1], t.now, dash, space, width);
}

void draw_tile(const MachineFigure& f, const Step* step, const DrawnHeld& d) {
    const Theme& t = f.theme();
    const Held& h = *d.held;
    const ImU32 hue = t.hue(h.meaning);
    if (!h.now) {
        f.canvas.dashed(d.slot, Theme::faded(hue, 0.6f));
        return draw_names(f, d, t.dim_ink);
    }
    const bool acts = h.part != Part::none, result = h.part == Part::result;
    const bool coming = result && step->kind() == Kind::load;
    const ImU32 dim = Theme::mixed(t.panel, hue, 0.45f);
    const ImU32 full = acts ? hue : dim;
    f.canvas.fill(d.box, result ? dim : full, f.px(2));
    // A computed result fills up from below; a loaded tile fades in as a whole.
    if (coming)
        f.canvas.fill(d.box, Theme::faded(hue, f.arrived), f.px(2));
    else if (result)
        f.canvas.fill({d.box.x0, d.box.y1 - d.box.h() * f.arrived, d.box.x1, d.box.y1}, hue, f.px(2));
    frame(f, d.box, h.part);
    draw_names(f, d, Theme::ink_on(result && f.arrived < 0.5f ? dim : full));
}

/// Draws how much of a space is used, as text and to scale: the tiles in the space, the oldest first.
void draw_capacity(const MachineFigure& f, const SmState& sm, Space space, Box area, Bytes longest) {
    const Theme& t = f.theme();
    const GpuSpec& gpu = f.run.experiment().gpu;
    const bool sram = space == Space::sram;
    const Bytes used = sram ? sm.sram_used : sm.registers_used,
                capacity = sram ? gpu.sram_per_block : gpu.registers_per_sm;
    const ImU32 colour = sram ? t.sram : t.registers;
    const Box all = area;
    const Box title = area.cut_top(Canvas::height(t.small_text) + f.px(2));
    const std::string name = space_title(space), of = space_used(used, capacity);
    const float x = f.canvas.text_in(t.small_text, title, Theme::mixed(colour, t.ink, 0.3f), name);
    f.canvas.text_in(t.small_text, {x + f.px(6), title.y0, title.x1, title.y1}, t.dim_ink,
                     space_used_texts(used, capacity));
    const float per_byte = area.w() / static_cast<float>(std::max<Bytes>(1, longest));
    const Box bar = {area.x0, area.y0, area.x0 + static_cast<float>(capacity) * per_byte, area.y1};
    f.canvas.fill(bar, Theme::faded(colour, 0.12f), f.px(2));
    float at = bar.x0;
    for (const TileState& s : sm.tiles) {
        const RecordedTile& tile = f.run.trace().tiles()[s.tile];
        if (tile.space != space) continue;
        const float end = std::min(bar.x1, at + static_cast<float>(tile.bytes()) * per_byte);
        const bool acts = part_of(f.run.operation(sm), s.tile) != Part::none;
        f.canvas.fill({at, bar.y0, std::max(at + 1, end - 1), bar.y1},
                      Theme::mixed(t.panel, t.hue(tile.meaning), acts ? 1.f : 0.45f));
        at = end;
    }
    f.canvas.outline(bar, Theme::faded(colour, 0.7f), 1, f.px(2));
    if (hovered(all)) tooltip(message("machine_panel.space", name, of) + "\n" + space_free(used, capacity));
}

/// Writes the SM's number, thread block, place in the loops and line.
void draw_title(const MachineFigure& f, const SmState& sm, Box& inner) {
    const Theme& t = f.theme();
    const Box title = inner.cut_top(Canvas::height(t.title) + f.px(3));
    const float x = f.canvas.text_in(t.title, title, sm.block ? t.ink : t.dim_ink, sm_name(sm)) + f.px(8);
    const std::string line = sm_line(sm);
    const float right = title.x1 - Canvas::width(t.small_text, line) - f.px(6);
    f.canvas.text_in(t.small_text, {x, title.y0, title.x1, title.y1}, t.dim_ink, line, Align::right);
    f.canvas.text_in(t.text, {x, title.y0, right, title.y1}, t.ink, sm_places(f.run, sm));
}

float formula_height(const MachineFigure& f) { return Canvas::height(f.theme().text) + f.px(4); }

/// Writes the formula of what the SM does.
void draw_formula(const MachineFigure& f, const SmState& sm, const Box& line) {
    const Theme& t = f.theme();
    const std::string does = formula(f.run, sm);
    if (sm.block) f.canvas.text_in(t.text, line, does.empty() ? t.dim_ink : t.highlight, does.empty() ? "·" : does);
}

/// The formula and the use of registers and SRAM: right of the tiles or above, whichever leaves the tiles larger.
void draw_capacities(const MachineFigure& f, const SmState& sm, const std::vector<Held>& held, Box& inner) {
    const GpuSpec& gpu = f.run.experiment().gpu;
    const ImFont* font = f.theme().small_text;
    const float height = Canvas::height(font) + f.px(2) + f.px(12), gap = f.px(10);
    const float width = std::max(
        f.px(150), Canvas::width(font, message("machine_panel.widest_space", "16.5 KiB", "256 KiB")) + f.px(4));
    const Bytes longest = std::max(gpu.sram_per_block, gpu.registers_per_sm);
    const float top = inner.y0 + formula_height(f) + f.px(4);
    const Box above = {inner.x0, top, inner.x1, top + height},
              beside = {inner.x1 - width, top, inner.x1, top + 2 * height + gap};
    // At a desk the formula is above the tiles in both cases, so that long formulas have room.
    const Box under = {inner.x0, above.y1 + f.px(6), inner.x1, inner.y1},
              left = {inner.x0, f.theme().in_a_hall() ? inner.y0 : top, beside.x0 - gap, inner.y1};
    const bool right = left.w() > width && scale_for(f, held, left) >= scale_for(f, held, under);
    draw_formula(f, sm, {right && f.theme().in_a_hall() ? beside.x0 : inner.x0, inner.y0, inner.x1, top - f.px(4)});
    const float half = (above.w() - gap) / 2;
    const Box registers = right ? Box{beside.x0, beside.y0, beside.x1, beside.y0 + height}
                                : Box{above.x1 - half, above.y0, above.x1, above.y1};
    const Box sram = right ? Box{beside.x0, beside.y1 - height, beside.x1, beside.y1}
                           : Box{above.x0, above.y0, above.x0 + half, above.y1};
    draw_capacity(f, sm, Space::registers, registers, longest);
    draw_capacity(f, sm, Space::sram, sram, longest);
    inner = right ? left : under;
}

void draw_held(MachineFigure& f, const SmState& sm, const std::vector<Held>& held, const Box& inner, float door) {
    const std::vector<DrawnHeld> all = arranged(f, held, inner);
    const Step* step = f.run.operation(sm);
    draw_spaces(f, all, inner);
    for (const DrawnHeld& d : all) {
        draw_tile(f, step, d);
        const Held& h = *d.held;
        if (h.now && hovered(d.box)) tooltip(about_tile(f.run, h.now->tile, h.now->written, h.part));
        if (!h.now || !step || !step->moves_data() || step->tile() != h.now->tile) continue;
        const auto way = way_to(f, all, d, {inner.x0, inner.y0, inner.x1, door});
        f.moves.push_back({.step = step,
                           .tile = d.box,
                           .door = way.front(),
                           .then = {way.begin() + 1, way.end()},
                           .missed = f.l2.missed(sm.steps.back())});
    }
}

}  // namespace

void draw_sm(MachineFigure& f, const Box& area) {
    const Theme& t = f.theme();
    const auto& sms = f.run.moment().sms;
    if (sms.empty()) {
        f.canvas.text_in(t.text, area, t.dim_ink, message("machine_panel.no_block"), Align::centre);
        return;
    }
    const SmState idle{f.focus, nullptr, 0, 0, 0, {}, {}};
    const SmState& sm = f.over ? idle : sms[static_cast<std::size_t>(f.focus)];
    f.canvas.fill(area, Theme::mixed(t.panel, t.background, 0.45f), f.px(5));
    f.canvas.outline(area, t.highlight, f.px(2), f.px(5));
    f.screen.places[f.prefix + "large-sm"] = {area.x0, area.y0, area.w(), area.h()};
    Box inner = {area.x0 + f.px(10), area.y0 + f.px(6), area.x1 - f.px(10), area.y1 - f.px(12)};
    draw_title(f, sm, inner);
    const std::vector<Held> held = crossing_of(f.run, sm);
    if (inner.h() > f.px(114) + formula_height(f))
        draw_capacities(f, sm, held, inner);
    else
        draw_formula(f, sm, inner.cut_top(formula_height(f))), inner.cut_top(f.px(4));
    draw_held(f, sm, held, inner, area.y1);
}

}  // namespace tilescope::gui::machine
