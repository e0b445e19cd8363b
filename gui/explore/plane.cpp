#include "gui/explore/plane.hpp"

#include <algorithm>
#include <cmath>

#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "gui/draw/whole.hpp"

namespace tilescope::gui::explore {
namespace {

using Look = PlanePicture::Look;
using Mark = PlanePicture::Mark;

/// Where cells are on the screen. Row 0 is the lowest one.
struct Grid {
    Box box;
    float w, h;

    Box cell(std::size_t row, std::size_t col) const {
        const float x = box.x0 + w * static_cast<float>(col), y = box.y1 - h * static_cast<float>(row + 1);
        return {x, y, x + w, y + h};
    }
    /// The point at (col, row), counted in cells from the middle of the first cell.
    ImVec2 at(float col, float row) const { return {box.x0 + w * (col + 0.5f), box.y1 - h * (row + 0.5f)}; }
};

bool fits(Look look) { return look != Look::no_sram && look != Look::no_registers; }

/// Known numbers fill their cell, estimates leave a rim, and a pending cell is a dot.
void draw_cell(const Canvas& c, const Box& b, const PlanePicture::Cell& cell) {
    const Theme& t = c.theme();
    if (cell.look == Look::value)
        c.fill(cell.estimated ? b.grown(-std::max(1.f, b.w() * 0.14f)) : b.grown(0.25f), t.shade(cell.shade));
    if (cell.look == Look::pending) c.circle(b.centre(), std::max(1.f, b.w() * 0.1f), t.bus);
}

/// Hatches cells that have and will have no number; neighbours in a row with one reason are hatched in one piece.
void draw_hatching(const Canvas& c, const Grid& g, const PlanePicture& p) {
    const Theme& t = c.theme();
    for (std::size_t row = 0; row < p.rows; ++row)
        for (std::size_t col = 0, end; col < p.cols; col = end) {
            const auto look = [&](std::size_t k) { return p.cells[row * p.cols + k].look; };
            for (end = col + 1; end < p.cols && look(end) == look(col);) ++end;
            if (look(col) == Look::value || look(col) == Look::pending) continue;
            Box b = g.cell(row, col);
            b.x1 = g.cell(row, end - 1).x1;
            const ImU32 colour = look(col) == Look::no_sram        ? t.sram
                                 : look(col) == Look::no_registers ? t.registers
                                                                   : t.dim_ink;
            c.hatch(b, Theme::faded(colour, fits(look(col)) ? 0.35f : 0.3f), c.px(fits(look(col)) ? 5 : 8));
        }
}

/// Lines between cells that differ in the number of thread blocks on an SM.
void draw_borders(const Canvas& c, const Grid& g, const PlanePicture& p) {
    const auto blocks = [&](std::size_t row, std::size_t col) { return p.cells[row * p.cols + col].blocks_per_sm; };
    const ImU32 colour = Theme::faded(c.theme().ink, 0.8f);
    for (std::size_t row = 0; row < p.rows; ++row)
        for (std::size_t col = 0; col < p.cols; ++col) {
            const Box b = g.cell(row, col);
            const Index here = blocks(row, col);
            if (here == 0) continue;
            if (col + 1 < p.cols && blocks(row, col + 1) > 0 && blocks(row, col + 1) != here)
                c.line({b.x1, b.y0}, {b.x1, b.y1}, colour);
            if (row + 1 < p.rows && blocks(row + 1, col) > 0 && blocks(row + 1, col) != here)
                c.line({b.x0, b.y0}, {b.x1, b.y0}, colour);
        }
}

/// How many cells of each row are within a limit, drawn as a line of steps.
struct Limit {
    const std::vector<std::size_t>& room;
    ImU32 colour;
    std::vector<std::string> names;  ///< from the longest to the shortest

    float x(const Grid& g, std::size_t row, std::size_t cols) const {
        return g.box.x0 + g.w * static_cast<float>(std::min(room[row], cols));
    }
    bool is_seen(std::size_t cols) const {
        return std::any_of(room.begin(), room.end(), [&](std::size_t n) { return n < cols; });
    }
};

void draw_limit(const Canvas& c, const Grid& g, const Limit& l, std::size_t cols) {
    for (std::size_t row = 0; row < l.room.size(); ++row) {
        const float x = l.x(g, row, cols), y0 = g.box.y1 - g.h * static_cast<float>(row), y1 = y0 - g.h;
        if (l.room[row] < cols) c.line({x, y0}, {x, y1}, l.colour, c.px(2.5f));
        if (row > 0 && l.room[row] != l.room[row - 1])
            c.line({l.x(g, row - 1, cols), y0}, {x, y0}, l.colour, c.px(2.5f));
    }
}

/// Whether the line goes through the box: in the box's rows, it is neither wholly left nor wholly right of the box.
bool crosses(const Grid& g, const Limit& l, std::size_t cols, const Box& b) {
    bool left = false, right = false;
    for (std::size_t row = 0; row < l.room.size(); ++row) {
        const float y0 = g.box.y1 - g.h * static_cast<float>(row), y1 = y0 - g.h, x = l.x(g, row, cols);
        if (y0 < b.y0 || y1 > b.y1 || !l.is_seen(cols)) continue;
        left |= x<b.x1, right |= x> b.x0;
    }
    return left && right;
}

/// Writes a limit's name right of its line, in the topmost free place. Returns false where no place is free.
bool draw_limit_name(const Canvas& c, const Grid& g, const std::vector<Limit>& limits, const Limit& l, std::size_t cols,
                     std::vector<Box>& taken) {
    const Theme& t = c.theme();
    const float half = t.small_text->FontSize / 2;
    for (const std::string& name : l.names)
        for (std::size_t row = l.room.size(); row-- > 0;) {
            const float x = l.x(g, row, cols) + c.px(8), y = g.box.y1 - g.h * (static_cast<float>(row) + 0.5f);
            const Box b = {x, y - half, x + Canvas::width(t.small_text, name), y + half};
            const Box around = b.grown(c.px(4));
            const auto touches = [&](const Box& o) {
                return o.x0 < around.x1 && around.x0 < o.x1 && o.y0 < around.y1 && around.y0 < o.y1;
            };
            const bool inside = b.y0 > g.box.y0 && b.y1 < g.box.y1 && b.x1 + c.px(4) < g.box.x1;
            if (!inside || std::any_of(taken.begin(), taken.end(), touches) ||
                std::any_of(limits.begin(), limits.end(),
                            [&](const Limit& other) { return crosses(g, other, cols, around); }))
                continue;
            c.text_on_patch(t.small_text, b, l.colour, t.panel, {name});
            taken.push_back(b);
            return true;
        }
    return false;
}

void draw_axes(const Canvas& c, const Grid& g, const PlanePicture& p) {
    const Theme& t = c.theme();
    const float line = t.small_text->FontSize;
    const auto every = [](const std::vector<PlanePicture::Tick>& ticks, float each, float widest) {
        const float apart = ticks.size() > 1 ? each * (ticks[1].at - ticks[0].at) : widest;
        return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(widest / std::max(apart, 0.01f))));
    };
    // Where not all ticks have room, draws every n-th, counted from the last one.
    const std::size_t nth_col = every(p.bc, g.w, Canvas::width(t.small_text, "888") + c.px(8));
    const std::size_t nth_row = every(p.br, g.h, line);
    for (std::size_t k = p.bc.empty() ? 0 : (p.bc.size() - 1) % nth_col; k < p.bc.size(); k += nth_col) {
        const auto& tick = p.bc[k];
        const float x = g.at(tick.at, 0).x, w = Canvas::width(t.small_text, tick.text);
        c.line({x, g.box.y1}, {x, g.box.y1 + c.px(4)}, t.bus);
        c.text(t.small_text, {x - w / 2, g.box.y1 + c.px(5)}, t.dim_ink, tick.text);
    }
    for (std::size_t k = p.br.empty() ? 0 : (p.br.size() - 1) % nth_row; k < p.br.size(); k += nth_row) {
        const auto& tick = p.br[k];
        const float y = g.at(0, tick.at).y, w = Canvas::width(t.small_text, tick.text);
        c.line({g.box.x0 - c.px(4), y}, {g.box.x0, y}, t.bus);
        c.text(t.small_text, {g.box.x0 - w - c.px(7), y - line / 2}, t.dim_ink, tick.text);
    }
    c.text_in(t.small_text, {g.box.x0, g.box.y1 + line + c.px(8), g.box.x1, g.box.y1 + 2 * line + c.px(10)}, t.dim_ink,
              std::vector{message("explore.bc"), message("explore.bc_brief"), message("explore.bc_name")},
              Align::centre);
    c.text_in(t.small_text, {g.box.x0 - c.px(34), g.box.y0 - line - c.px(6), g.box.x1, g.box.y0 - c.px(4)}, t.dim_ink,
              std::vector{message("explore.br"), message("explore.br_brief"), message("explore.br_name")});
    c.outline(g.box, t.bus);
}

/// Marks differ in shape. Each is a bright line on a dark one, so that it can be seen on any shade.
void draw_shape(const Canvas& c, ImVec2 at, Mark::Kind kind) {
    const Theme& t = c.theme();
    const ImU32 dark = IM_COL32(10, 12, 16, 255);
    const auto twice = [&](auto&& shape) { shape(dark, c.px(4.5f)), shape(t.highlight, c.px(2.2f)); };
    const float r = c.px(6);
    switch (kind) {
        case Mark::Kind::current:
            return twice([&](ImU32 colour, float w) { c.circle_outline(at, r + c.px(3), colour, w); });
        case Mark::Kind::best:
            return twice([&](ImU32 colour, float w) {
                c.line({at.x - r, at.y}, {at.x + r, at.y}, colour, w);
                c.line({at.x, at.y - r}, {at.x, at.y + r}, colour, w);
            });
        case Mark::Kind::released:
            return twice([&](ImU32 colour, float w) {
                c.outline({at.x - r, at.y - r, at.x + r, at.y + r}, colour, w);
            });
        case Mark::Kind::paper:
            return twice([&](ImU32 colour, float w) {
                const ImVec2 p[] = {{at.x, at.y - r}, {at.x + r, at.y}, {at.x, at.y + r}, {at.x - r, at.y}};
                c.polygon_outline(p, colour, w);
            });
    }
}

/// p.scale begins with the ticks of the least and the greatest value. Other ticks are drawn where they have room.
void draw_scale(const Canvas& c, Box area, const PlanePicture& p) {
    const Theme& t = c.theme();
    const Box bar = {area.x0, area.y0, area.x1, area.y0 + c.px(10)};
    constexpr int steps = 64;
    for (int k = 0; k < steps && !p.scale.empty(); ++k) {
        const float a = static_cast<float>(k) / steps, b = static_cast<float>(k + 1) / steps;
        c.fill({bar.x0 + bar.w() * a, bar.y0, bar.x0 + bar.w() * b, bar.y1}, t.shade((a + b) / 2));
    }
    std::vector<Box> taken;
    for (const auto& tick : p.scale) {
        const float w = Canvas::width(t.small_text, tick.text), at = bar.x0 + bar.w() * tick.at;
        const float x = std::clamp(at - w / 2, bar.x0, std::max(bar.x0, bar.x1 - w));
        const auto touches = [&](const Box& b) { return x < b.x1 + c.px(8) && x + w > b.x0 - c.px(8); };
        if (std::any_of(taken.begin(), taken.end(), touches)) continue;
        c.line({at, bar.y1}, {at, bar.y1 + c.px(3)}, t.bus);
        c.text(t.small_text, {x, bar.y1 + c.px(3)}, t.dim_ink, tick.text);
        taken.push_back({x, 0, x + w, 0});
    }
}

/// The key: the marks, the limits without a name beside their line, and the hatchings without a line of their own.
void draw_key(const Canvas& c, Box area, const PlanePicture& p, const std::vector<Limit>& limits) {
    const Theme& t = c.theme();
    const float line = t.small_text->FontSize;
    float x = area.x0, y = area.y0;
    const auto room_for = [&](const std::string& text) {
        const float w = c.px(22) + Canvas::width(t.small_text, text);
        if (x > area.x0 && x + w > area.x1) x = area.x0, y += line + c.px(6);
        const Box b = {x, y, std::min(area.x1, x + w + 1), y + line};
        x += w + c.px(16);
        return b;
    };
    const auto words = [&](const Box& b, const std::string& text) {
        c.text_in(t.small_text, {b.x0 + c.px(22), b.y0, b.x1, b.y1}, t.ink, text);
    };
    for (const Mark& m : p.marks) {
        const Box b = room_for(m.text);
        draw_shape(c, {b.x0 + c.px(8), b.centre().y}, m.kind);
        words(b, m.text);
    }
    for (const Limit& l : limits) {
        const Box b = room_for(l.names.front());
        c.line({b.x0, b.centre().y}, {b.x0 + c.px(16), b.centre().y}, l.colour, c.px(2.5f));
        words(b, l.names.front());
    }
    const auto has = [&](Look look) {
        return std::any_of(p.cells.begin(), p.cells.end(), [&](const auto& cell) { return cell.look == look; });
    };
    for (const auto& [look, id] :
         {std::pair(Look::spills, "explore.spills"), std::pair(Look::no_value, "explore.not_known"),
          std::pair(Look::pending, "explore.pending")}) {
        if (!has(look)) continue;
        const std::string text = message(id);
        const Box b = room_for(text), sample = {b.x0, b.y0, b.x0 + c.px(16), b.y1};
        if (look == Look::pending)
            c.circle(sample.centre(), c.px(2), t.bus);
        else
            c.hatch(sample, Theme::faded(t.dim_ink, 0.6f), c.px(5));
        words(b, text);
    }
    if (std::any_of(p.cells.begin(), p.cells.end(), [](const auto& cell) { return cell.estimated; })) {
        const std::string text = message("explore.estimated");
        const Box b = room_for(text);
        c.fill({b.x0 + c.px(4), b.y0 + c.px(3), b.x0 + c.px(12), b.y0 + c.px(11)}, t.shade(0.6f));
        words(b, text);
    }
    const std::string lines = message("explore.thin_lines");
    const Box b = room_for(lines);
    c.paragraph(t.small_text, b.min(), t.dim_ink, lines, b.w(), 3);
}

/// Runs the tiling of a cell: sets Br and Bc, so that no rule chooses them.
void run_cell(Shown& shown, const Derived& derived, std::size_t cell) {
    const Tiling t = derived.explorer.plane()->read([&](const auto& cells) { return cells[cell].tiling; });
    Setup s = shown.session.setup();
    s.options.br = std::to_string(t.br), s.options.bc = std::to_string(t.bc);
    shown.session.ask(s);
}

void touch(Shown& shown, Derived& derived, Screen& screen, Input& input, const Grid& g, const PlanePicture& p) {
    ImGui::SetCursorScreenPos(g.box.min());
    hit_area("plane", {g.box.w(), g.box.h()});
    screen.place("plane");
    input.hovered_cell.reset();
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const bool held = ImGui::IsItemActive();
    if (!ImGui::IsItemHovered() && !held) return;
    const auto col = whole((mouse.x - g.box.x0) / g.w, 0, static_cast<Index>(p.cols) - 1),
               row = whole((g.box.y1 - mouse.y) / g.h, 0, static_cast<Index>(p.rows) - 1);
    const std::size_t cell = static_cast<std::size_t>(row) * p.cols + static_cast<std::size_t>(col);
    input.hovered_cell = cell;
    derived.explorer.plane()->look_at(cell);
    if (held) run_cell(shown, derived, cell);
}

}  // namespace

void draw_plane(Shown& shown, Derived& derived, Screen& screen, Input& input, Box area, const PlanePicture& p) {
    const Canvas c(screen.theme);
    const Theme& t = screen.theme;
    const float line = t.small_text->FontSize, below = 2 * line + c.px(14), legend = 5 * line + c.px(60);
    const float left = c.px(38), top = line + c.px(8), column = c.px(280);
    // The key is below the plane or beside it, whichever leaves the plane larger.
    const float above = std::min(area.w() - left - c.px(4), area.h() - top - below - legend);
    const float widest = area.w() - left - c.px(24) - column, alone = std::min(widest, area.h() - top - below);
    const bool beside = alone > above;
    const float high = std::max(above, alone), wide = beside ? std::min(widest, 1.5f * high) : high;
    if (high < c.px(60) || p.cells.empty()) return;
    const Box box = {area.x0 + left, area.y0 + top, area.x0 + left + wide, area.y0 + top + high};
    const Grid g{box, wide / static_cast<float>(p.cols), high / static_cast<float>(p.rows)};
    draw_hatching(c, g, p);
    for (std::size_t k = 0; k < p.cells.size(); ++k) draw_cell(c, g.cell(k / p.cols, k % p.cols), p.cells[k]);
    draw_borders(c, g, p);
    const std::vector<Limit> limits = {
        {p.limits.sram, t.sram, {message("explore.no_sram"), message("explore.sram")}},
        {p.limits.registers, t.registers, {message("explore.no_registers"), message("explore.registers")}}};
    for (const Limit& l : limits) draw_limit(c, g, l, p.cols);
    draw_axes(c, g, p);
    touch(shown, derived, screen, input, g, p);
    if (input.hovered_cell)
        c.outline(g.cell(*input.hovered_cell / p.cols, *input.hovered_cell % p.cols), t.ink, c.px(2));
    std::vector<Box> taken;
    for (const Mark& m : p.marks) {
        const ImVec2 at = g.at(m.col, m.row);
        draw_shape(c, at, m.kind);
        taken.push_back(Box{at.x, at.y, at.x, at.y}.grown(c.px(11)));
    }
    std::vector<Limit> nameless;
    for (const Limit& l : limits)
        if (l.is_seen(p.cols) && !draw_limit_name(c, g, limits, l, p.cols, taken)) nameless.push_back(l);
    const Box key =
        beside ? Box{box.x1 + c.px(24), box.y0, area.x1, area.y1} : Box{box.x0, box.y1 + below, area.x1, area.y1};
    draw_scale(c, {key.x0, key.y0, beside ? key.x0 + std::min(key.w(), c.px(420)) : box.x1, key.y1}, p);
    draw_key(c, {key.x0, key.y0 + line + c.px(24), key.x1, key.y1}, p, nameless);
}

void draw_readout(const Screen& screen, Box area, const CellText& text) {
    const Canvas c(screen.theme);
    const Theme& t = screen.theme;
    const float line = t.text->FontSize, small = t.small_text->FontSize;
    c.text_in(t.title, area.cut_top(t.title->FontSize + c.px(8)), t.ink, text.title);
    const auto paragraph = [&](const std::string& words, ImU32 colour) {
        const int n = c.paragraph(t.small_text, area.min(), colour, words, area.w(), 6);
        area.y0 += static_cast<float>(n) * small + c.px(8);
    };
    if (!text.trouble.empty()) paragraph(text.trouble, t.bad);
    for (const CellText::Line& l : text.lines) {
        if (area.h() < line + small) return;
        c.text_in(t.text, area.cut_top(line + c.px(1)), t.ink, l.value);
        const int n = c.paragraph(t.small_text, area.min(), t.dim_ink, l.what, area.w(), 2);
        area.cut_top(static_cast<float>(n) * small + c.px(7));
    }
    if (text.steps.empty() || area.h() < 3 * line) return;
    area.cut_top(c.px(6));
    c.fill({area.x0, area.y0, area.x1, area.y0 + 1}, t.faint);
    area.cut_top(c.px(6));
    c.text_in(t.text, area.cut_top(line + c.px(4)), t.ink, message("explore.next_tiles"));
    for (const CellText::Step& s : text.steps) {
        if (area.h() < 2 * small) return;
        c.text_in(t.small_text, area.cut_top(small + c.px(2)), t.ink,
                  s.value.empty() ? message("explore.step", s.direction, s.tiling)
                                  : message("explore.step_to_value", s.direction, s.tiling, s.value));
        c.text_in(t.small_text, area.cut_top(small + c.px(5)), t.dim_ink, s.what);
    }
}

}  // namespace tilescope::gui::explore
