// The ways between HBM, L2 and the SMs, as wide as their bandwidths, and what is on them.
#include <algorithm>
#include <vector>

#include "gui/draw/items.hpp"
#include "gui/machine/figure.hpp"

namespace tilescope::gui::machine {
namespace {

/// The progress of a move that begins slowly, speeds up and ends slowly; 0 to 1, as is `x`.
float eased(float x) { return x * x * (3 - 2 * x); }

/// Where the tile is between chip (0) and HBM (1). It passes the door of its SM and L2; where L2 has the tile or keeps
/// it, the way ends at L2.
Box place_on_way(const MachineFigure& f, const Move& m, float s) {
    std::vector<Box> stops = {m.tile};
    const auto stop = [&](ImVec2 at) {
        stops.push_back(m.tile.moved(at.x - m.tile.centre().x, at.y - m.tile.centre().y));
    };
    for (auto p = m.then.rbegin(); p != m.then.rend(); ++p)
        if (p != m.then.rbegin()) stop(*p);
    if (!m.then.empty()) stop(m.door);
    if (f.l2.exists()) stops.push_back(m.held);
    if (!f.l2.exists() || m.missed > 0) stops.push_back(m.region);
    const float at = s * static_cast<float>(stops.size() - 1);
    const auto k = static_cast<std::size_t>(std::min(at, static_cast<float>(stops.size() - 2)));
    return mixed(stops[k], stops[k + 1], at - static_cast<float>(k));
}

/// Draws a moving tile: at both ends as large as the tile there, in between large enough for the tile's name.
void draw_flying(const MachineFigure& f, const Move& m, const std::string& name, ImU32 hue, bool down) {
    const Theme& t = f.theme();
    const float s = eased(f.arrived);
    Box b = place_on_way(f, m, down ? s : 1 - s);
    const ImVec2 least = Canvas::size(t.small_text, name), at = b.centre();
    const float half = 4 * s * (1 - s) / 2;
    const float w = std::max(b.w() / 2, half * (least.x + f.px(10))),
                h = std::max(b.h() / 2, half * (least.y + f.px(6)));
    b = {at.x - w, at.y - h, at.x + w, at.y + h};
    f.canvas.fill(b, hue, f.px(2));
    f.canvas.outline(b, t.highlight, f.px(1.5f), f.px(2));
    if (b.w() >= least.x + f.px(2) && b.h() >= least.y)
        f.canvas.text_in(t.small_text, b, Theme::ink_on(hue), name, Align::centre);
}

/// The way that the tile took.
void draw_way(const MachineFigure& f, const Move& m, ImU32 colour, bool down) {
    const ImVec2 cell = {m.region.centre().x, m.region.y0};
    const ImVec2 begin = f.l2.exists() ? ImVec2{m.held.centre().x, m.held.y0} : cell;
    if (f.l2.exists() && m.missed > 0) f.canvas.wire(cell, {m.held.centre().x, m.held.y1}, {}, colour);
    f.canvas.wire(begin, m.door, m.then, colour);
    if (down) return f.canvas.arrow_head(begin, true, colour);
    const ImVec2 tip = m.then.empty() ? m.door : m.then.back();
    const bool from_the_left = m.then.size() > 1;
    if (!from_the_left) return f.canvas.arrow_head(tip, false, colour);
    const float half = f.px(4), back = tip.x - f.px(7);
    f.canvas.triangle(tip, {back, tip.y + half}, {back, tip.y - half}, colour);
}

/// Whether a move is drawn with its tile and wire. Wires of more than `most` moves would hide each other.
bool drawn_whole(const MachineFigure& f, const Move& m) {
    constexpr std::ptrdiff_t most = 24;
    return m.focus || std::ssize(f.moves) <= most;
}

/// The width of a pipe. Both pipes have one scale, on which the wider one takes all of `room`.
float width_of(const MachineFigure& f, double rate, float room) {
    return room * static_cast<float>(rate / std::max(l2_rate(f.run), dram_rate(f.run)));
}

void draw_pipe(const MachineFigure& f, const Box& at, double rate) {
    const float half = width_of(f, rate, at.w()) / 2, x = at.centre().x;
    f.canvas.fill({x - half, at.y0, x + half, at.y1}, Theme::faded(f.theme().bus, 0.3f));
}

}  // namespace

void draw_pipes(const MachineFigure& f, const Pipes& at) {
    if (f.l2.exists()) draw_pipe(f, at.of_l2, l2_rate(f.run));
    draw_pipe(f, at.of_dram, dram_rate(f.run));
}

void draw_moves(const MachineFigure& f) {
    const Theme& t = f.theme();
    for (const Move& m : f.moves) {
        if (!drawn_whole(f, m)) continue;
        const ImU32 hue = t.hue(f.run.trace().tiles()[m.step->tile()].meaning);
        const float opacity = !m.in_front ? 0.4f : m.focus ? 0.9f : 0.55f;
        draw_way(f, m, Theme::faded(hue, f.arrived * opacity), m.step->kind() == Kind::store);
    }
    if (f.arrived >= 1) return;
    for (const Move& m : f.moves) {
        if (!drawn_whole(f, m)) continue;
        const RecordedTile& tile = f.run.trace().tiles()[m.step->tile()];
        draw_flying(f, m, tile.name, Theme::faded(t.hue(tile.meaning), m.in_front ? 1.f : 0.6f),
                    m.step->kind() == Kind::store);
    }
}

void draw_pipe_texts(const MachineFigure& f, const Pipes& at) {
    const Theme& t = f.theme();
    const auto write = [&](const Box& pipe, double rate, const std::vector<std::string>& texts) {
        if (pipe.h() < Canvas::height(t.small_text)) return;
        const float half = width_of(f, rate, pipe.w()) / 2, middle = pipe.centre().x;
        const Box line = {middle - half + f.px(6), pipe.centre().y - Canvas::height(t.small_text) / 2, pipe.x1,
                          pipe.centre().y + Canvas::height(t.small_text) / 2 + f.px(1)};
        f.canvas.text_on_patch(t.small_text, line, t.dim_ink, Theme::mixed(t.panel, t.bus, 0.3f), texts);
        if (hovered(pipe)) tooltip(about_pipes(f.run));
    };
    if (f.l2.exists()) write(at.of_l2, l2_rate(f.run), l2_pipe_text(f.run));
    write(at.of_dram, dram_rate(f.run), dram_pipe_text(f.run));
}

}  // namespace tilescope::gui::machine
