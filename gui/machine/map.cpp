// All SMs of the GPU, one cell each: what each SM does, and its place in the loops. If not all have room, the first
// ones.
#include <algorithm>
#include <cmath>

#include "gui/draw/items.hpp"
#include "gui/draw/whole.hpp"
#include "gui/machine/figure.hpp"
#include "show/words/steps.hpp"

namespace tilescope::gui::machine {
namespace {

/// Cells in rows, all of one size.
struct Rows {
    float across = 0, down = 0;  ///< from one cell to the next
    Index in_row = 1, rows = 1;

    Rows(Index n, float width, float each_across, float each_down)
        : across(std::floor(each_across)), down(std::floor(each_down)) {
        in_row = whole(width / across, 1, std::max<Index>(1, n));
        rows = ceil_div(n, in_row);
    }
    float height() const { return static_cast<float>(rows) * down; }
    Box at(Index k, ImVec2 corner) const {
        const float x = corner.x + static_cast<float>(k % in_row) * across,
                    y = corner.y + static_cast<float>(k / in_row) * down;
        const float space = std::max(1.f, std::floor(down / 5));
        return {x, y, x + std::max(2.f, across - space), y + std::max(2.f, down - space)};
    }
};

/// The largest squares of which `n` fit. Where even the smallest do not fit, as many of these as there is room for.
Rows squares(const MachineFigure& f, Index n, float width, float height) {
    Rows r(n, width, f.px(4), f.px(4));
    for (float pitch = f.px(16); pitch >= f.px(4); pitch -= 1)
        if (r = Rows(n, width, pitch, pitch); r.height() <= height) break;
    if (const Index rows = whole(height / r.down + 0.5f, 1, std::max<Index>(1, r.rows)); rows < r.rows)
        r.rows = rows;
    else
        r.in_row = ceil_div(n, std::max<Index>(1, r.rows));  // rows of equal length, except the last
    return r;
}

/// A cell for every SM that has room. The first SMs are those that ever work on something shown. Their cells have room
/// for their positions in the loops, where this leaves room for the other SMs.
struct SmCells {
    std::vector<Box> boxes;
    Index with_words = 0;
};

SmCells cells(const MachineFigure& f, const Box& area) {
    const Index n = f.run.experiment().gpu.sms, known = std::min(n, f.run.schedule().sms_used());
    const float line = Canvas::height(f.theme().small_text), gap = f.px(6);
    const float words = Canvas::width(f.theme().small_text, longest_position(f.run)) + f.px(4);
    SmCells c;
    const auto add = [&](const Rows& r, Index count, ImVec2 corner) {
        for (Index k = 0; k < std::min(count, r.in_row * r.rows); ++k) c.boxes.push_back(r.at(k, corner));
    };
    for (float down = 2 * line; known > 0 && down >= line + f.px(5); down -= 1) {
        const Rows large(known, area.w(), 0.9f * down + words, down);
        const float rest = area.h() - large.height() - gap;
        const Rows small = squares(f, n - known, area.w(), std::max(0.f, rest));
        if (n > known && small.across < f.px(6)) continue;
        if (small.in_row * small.rows < n - known || (n > known ? rest < small.height() : rest < -gap)) continue;
        c.with_words = known;
        add(large, known, area.min());
        add(small, n - known, {area.x0, area.y0 + large.height() + gap});
        return c;
    }
    add(squares(f, n, area.w(), area.h()), n, area.min());
    return c;
}

const SmState* state_of(const MachineFigure& f, Index sm) {
    const auto& sms = f.run.moment().sms;
    return sm < std::ssize(sms) ? &sms[static_cast<std::size_t>(sm)] : nullptr;
}

/// The hue of the tile that the SM moves now; grey where it computes or does nothing.
ImU32 colour_of(const MachineFigure& f, const SmState* sm) {
    const Step* step = sm ? f.run.operation(*sm) : nullptr;
    const Theme& t = f.theme();
    if (!step) return Theme::mixed(t.panel, t.ink, 0.25f);
    if (!step->moves_data()) return Theme::mixed(t.panel, t.ink, 0.6f);
    return t.hue(f.run.trace().tiles()[step->tile()].meaning);
}

/// An arrow into the chip or out of it, a cross for products, a dot for the rest.
void draw_sign(const Canvas& c, ImVec2 at, float r, StepKind phase, ImU32 colour) {
    if (phase == StepKind::load) c.triangle({at.x, at.y - r}, {at.x - r, at.y + r}, {at.x + r, at.y + r}, colour);
    if (phase == StepKind::store) c.triangle({at.x, at.y + r}, {at.x + r, at.y - r}, {at.x - r, at.y - r}, colour);
    if (phase == StepKind::rest) c.circle(at, r * 0.7f, colour);
    if (phase != StepKind::product) return;
    c.line({at.x - r, at.y - r}, {at.x + r, at.y + r}, colour, c.px(1.6f));
    c.line({at.x - r, at.y + r}, {at.x + r, at.y - r}, colour, c.px(1.6f));
}

/// The head that the SM in focus works on; -1: none.
Index head_in_focus(const MachineFigure& f) {
    const SmState* focus = state_of(f, f.focus);
    return focus && focus->block ? f.run.head_of(*focus->block) : -1;
}

void draw_cell(const MachineFigure& f, const Box& b, Work work, const SmState* sm, bool words) {
    const Theme& t = f.theme();
    const Canvas& c = f.canvas;
    const float round = std::min(f.px(2), b.w() / 4);
    if (work == Work::elsewhere) {
        c.fill({b.x0, b.centre().y, b.x1, b.y1}, Theme::faded(t.ink, 0.4f), round);
        c.outline(b, Theme::faded(t.ink, 0.4f), 1, round);
    }
    if (work == Work::none) c.outline(b, t.bus, 1, round);
    if (work != Work::shown) return;
    const ImU32 colour = colour_of(f, sm);
    c.fill(b, colour, round);
    const ImU32 ink = Theme::ink_on(colour);
    if (const Index head = head_in_focus(f); head >= 0 && f.run.head_of(*sm->block) != head)
        c.hatch(b, Theme::faded(ink, 0.35f), f.px(6));
    const float r = std::min(f.px(3.5f), b.h() / 4);
    const StepKind phase = phase_of(f.run, *sm);
    if (!words) return draw_sign(c, b.centre(), r, phase, ink);
    draw_sign(c, {b.x0 + 2 * r + 1, b.centre().y}, r, phase, ink);
    const std::string place = short_position(f.run, *sm);
    const Box rest = {b.x0 + 4 * r, b.y0, b.x1, b.y1};
    if (Canvas::width(t.small_text, place) <= rest.w()) c.text_in(t.small_text, rest, ink, place, Align::centre);
}

/// A tile that an SM outside the focus moves starts or ends at the lower edge of the map, below the SM's cell.
void note_move(MachineFigure& f, const SmState& sm, const Box& cell, float door) {
    const Step* step = f.run.operation(sm);
    if (sm.sm == f.focus || !step || !step->moves_data()) return;
    const float x = cell.centre().x, half = cell.w() / 2;
    f.moves.push_back({.step = step,
                       .tile = {x - half, door - f.px(3), x + half, door},
                       .door = {x, door},
                       .focus = false,
                       .missed = f.l2.missed(sm.steps.back())});
}

/// Draws the names of the signs in the last lines of `area`, as many lines as they take, and cuts these off.
void draw_legend(const MachineFigure& f, Box& area) {
    const Theme& t = f.theme();
    const float line = Canvas::height(t.small_text) + f.px(2), sign = f.px(11);
    constexpr StepKind phases[] = {StepKind::load, StepKind::store, StepKind::product, StepKind::rest};
    std::vector<Box> boxes;  // from the first line's corner
    float x = 0, y = 0;
    for (const StepKind phase : phases) {
        const float width = sign + Canvas::width(t.small_text, name_of(phase));
        if (x > 0 && x + width > area.w()) x = 0, y += line;
        boxes.push_back({x, y, x + width, y + line});
        x += width + f.px(9);
    }
    const float top = area.y1 - y - line - f.px(8);
    for (std::size_t k = 0; k < boxes.size(); ++k) {
        const Box at = boxes[k].moved(area.x0, top);
        draw_sign(f.canvas, {at.x0 + f.px(4), at.centre().y}, f.px(3.5f), phases[k], t.dim_ink);
        f.canvas.text_in(t.small_text, {at.x0 + sign, at.y0, at.x1, at.y1}, t.dim_ink, name_of(phases[k]));
    }
    area.y1 = top - f.px(4);
}

}  // namespace

float sm_map_height(const MachineFigure& f, float width, float at_most) {
    return squares(f, f.run.experiment().gpu.sms, width, at_most).height();
}

void draw_launch(const MachineFigure& f, const Box& line) {
    const Index busy = busy_sms(f.work);
    f.canvas.text_in(f.theme().text, line, f.theme().ink, launch_lines(f.run, busy, f.over || has_ended(f.run)));
}

void draw_sm_map(MachineFigure& f, Box area, bool at_pipes) {
    const float door = area.y1;
    if (area.h() > f.px(120)) draw_legend(f, area);
    const SmCells all = cells(f, area);
    for (Index sm = 0; sm < std::ssize(all.boxes); ++sm) {
        const Box& b = all.boxes[static_cast<std::size_t>(sm)];
        const SmState* state = state_of(f, sm);
        const Work now = f.work[static_cast<std::size_t>(sm)];
        draw_cell(f, b, now, state, sm < all.with_words);
        if (sm == f.focus) f.canvas.outline(b.grown(f.px(1.5f)), f.theme().highlight, f.px(2), f.px(2));
        if (state) {
            const std::string name = f.prefix + "sm-" + std::to_string(sm);
            ImGui::SetCursorScreenPos(b.min());
            if (hit_area(name, {b.w(), b.h()})) f.shown.view.sm = sm;
            f.screen.place(name);
            if (!f.over && at_pipes) note_move(f, *state, b, door);
        }
        if (hovered(b)) tooltip(about_sm(f.run, sm, now));
    }
}

}  // namespace tilescope::gui::machine
