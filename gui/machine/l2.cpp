// The L2: what it holds of every tensor.
#include <cmath>

#include "gui/draw/items.hpp"
#include "gui/draw/whole.hpp"
#include "gui/machine/figure.hpp"

namespace tilescope::gui::machine {
namespace {

/// The parts of a tensor in a row, several in a cell where each alone would be too small to be seen.
struct HeldCells {
    Box area;
    std::size_t parts;

    std::size_t in_a_cell(float least) const {
        const auto room = static_cast<std::size_t>(whole(area.w() / least, 1, 100'000));
        return (parts + room - 1) / room;
    }
    Box cell(std::size_t first, std::size_t count) const {
        const float each = area.w() / static_cast<float>(parts);
        return {area.x0 + each * static_cast<float>(first), area.y0, area.x0 + each * static_cast<float>(first + count),
                area.y1};
    }
};

/// Returns how many of its parts are there.
std::size_t draw_held(const MachineFigure& f, TensorId id, const HeldCells& cells) {
    const Theme& t = f.theme();
    const ImU32 hue = t.hue(f.run.trace().tensors()[id].meaning);
    const std::size_t step = cells.in_a_cell(f.px(3));
    std::size_t there = 0;
    for (std::size_t first = 0; first < cells.parts; first += step) {
        const std::size_t count = std::min(step, cells.parts - first);
        double share = 0;
        for (std::size_t k = first; k < first + count; ++k) {
            const double held = f.l2.share_held(id, k);
            share += held, there += held > 0 ? 1 : 0;
        }
        const Box b = cells.cell(first, count);
        const auto full = static_cast<float>(share / static_cast<double>(count));
        if (full > 0) f.canvas.fill(b, Theme::mixed(t.panel, hue, 0.2f + 0.6f * full));
        if (b.w() >= 4) f.canvas.outline(b, Theme::faded(hue, 0.45f));
    }
    f.canvas.outline(cells.area, Theme::faded(hue, 0.6f));
    return there;
}

void draw_tensor(MachineFigure& f, TensorId id, Box area) {
    const Theme& t = f.theme();
    const RecordedTensor& tensor = f.run.trace().tensors()[id];
    const float name = Canvas::width(t.small_text, tensor.name) + f.px(5);
    f.canvas.text_in(t.small_text, area, t.dim_ink, tensor.name);
    const HeldCells cells = {{area.x0 + name, area.y0, std::max(area.x0 + name + f.px(4), area.x1 - f.px(10)), area.y1},
                             tensor.regions.size()};
    if (cells.parts == 0) return f.canvas.dashed(cells.area, t.faint);
    const std::size_t there = draw_held(f, id, cells);
    if (hovered(cells.area)) tooltip(about_held(tensor.name, there, cells.parts));
    for (Move& m : f.moves) {
        if (m.step->event.region.tensor != id) continue;
        m.held = cells.cell(static_cast<std::size_t>(m.step->region), 1);
        f.canvas.outline(m.held.grown(f.px(1)), t.highlight, f.px(2));
    }
}

}  // namespace

void draw_l2(MachineFigure& f, Box area) {
    const Theme& t = f.theme();
    f.canvas.fill(area, Theme::faded(t.bus, 0.12f), f.px(4));
    f.canvas.outline(area, t.bus, 1, f.px(4));
    area = {area.x0 + f.px(8), area.y0 + f.px(4), area.x1 - f.px(8), area.y1 - f.px(6)};
    const Box line = area.cut_top(Canvas::height(t.small_text) + f.px(5));
    const float x = f.canvas.text_in(t.small_text, line, t.ink, l2_titles(f.run, f.l2));
    f.canvas.text_in(t.small_text, {x + f.px(10), line.y0, line.x1, line.y1}, t.dim_ink, l2_answer(f.run, f.l2),
                     Align::right);
    if (hovered(line)) tooltip(about_l2(f.run));
    const auto n = f.run.trace().tensors().size();
    const float each = area.w() / static_cast<float>(n);
    for (std::size_t k = 0; k < n; ++k) {
        const float left = area.x0 + static_cast<float>(k) * each;
        draw_tensor(f, static_cast<TensorId>(k), {left, area.y0, left + each, area.y1});
    }
}

}  // namespace tilescope::gui::machine
