// The L2: what it holds of every tensor.
#include <algorithm>
#include <cmath>

#include "gui/draw/items.hpp"
#include "gui/draw/whole.hpp"
#include "gui/machine/figure.hpp"

namespace tilescope::gui::machine {
namespace {

/// The place of a region in a strip in which all rows of a tensor stand side by side: those of head 0 first, then those
/// of head 1, and so on.
Box place_in_strip(const RecordedTensor& t, const Region& r, const Box& strip) {
    const float per_row = strip.w() / static_cast<float>(t.slices * t.rows);
    const auto first = static_cast<float>(r.slice * t.rows + r.rows.begin);
    return {strip.x0 + first * per_row, strip.y0, strip.x0 + (first + static_cast<float>(r.rows.size)) * per_row,
            strip.y1};
}

/// For each column of pixels, the share of the tensor there that L2 holds. Regions have any shape and may overlap.
std::vector<float> held_shares(const MachineFigure& f, TensorId id, const Box& strip) {
    const RecordedTensor& t = f.run.trace().tensors()[id];
    std::vector<float> shares(static_cast<std::size_t>(whole(strip.w(), 1, 4000)), 0);
    const float width = strip.w() / static_cast<float>(shares.size());
    for (std::size_t k = 0; k < t.regions.size(); ++k) {
        const auto held = static_cast<float>(f.l2.share_held(id, k));
        if (held == 0) continue;
        const Region& r = t.regions[k];
        const Box b = place_in_strip(t, r, strip);
        const float share = held * static_cast<float>(r.cols.size) / static_cast<float>(t.cols);
        const Index last = whole((b.x1 - strip.x0) / width + 0.999f, 1, std::ssize(shares));
        for (Index c = whole((b.x0 - strip.x0) / width, 0, last - 1); c < last; ++c) {
            const float left = strip.x0 + static_cast<float>(c) * width;
            const float covered = (std::min(b.x1, left + width) - std::max(b.x0, left)) / width;
            float& sum = shares[static_cast<std::size_t>(c)];
            sum = std::min(1.f, sum + share * std::max(0.f, covered));
        }
    }
    return shares;
}

void draw_held(const MachineFigure& f, TensorId id, const Box& strip) {
    const Theme& t = f.theme();
    const ImU32 hue = t.hue(f.run.trace().tensors()[id].meaning);
    const std::vector<float> shares = held_shares(f, id, strip);
    const float width = strip.w() / static_cast<float>(shares.size());
    for (std::size_t first = 0, last = 0; first < shares.size(); first = last) {
        for (last = first; last < shares.size() && std::abs(shares[last] - shares[first]) < 0.01f;) ++last;
        if (shares[first] < 0.005f) continue;
        f.canvas.fill({strip.x0 + static_cast<float>(first) * width, strip.y0,
                       strip.x0 + static_cast<float>(last) * width, strip.y1},
                      Theme::mixed(t.panel, hue, 0.15f + 0.65f * shares[first]));
    }
    f.canvas.outline(strip, Theme::faded(hue, 0.6f));
}

void draw_tensor(MachineFigure& f, TensorId id, const Box& area) {
    const Theme& t = f.theme();
    const RecordedTensor& tensor = f.run.trace().tensors()[id];
    const float name = Canvas::width(t.small_text, tensor.name) + f.px(5);
    f.canvas.text_in(t.small_text, area, t.dim_ink, tensor.name);
    const Box strip = {area.x0 + name, area.y0, std::max(area.x0 + name + f.px(4), area.x1 - f.px(10)), area.y1};
    if (tensor.regions.empty()) return f.canvas.dashed(strip, t.faint);
    draw_held(f, id, strip);
    if (hovered(strip)) tooltip(about_held(f.run, f.l2, id));
    for (Move& m : f.moves) {
        if (m.step->event.region.tensor != id) continue;
        m.held = place_in_strip(tensor, m.step->event.region, strip);
        f.canvas.outline(m.held.grown(f.px(1)), t.highlight, f.px(2));
    }
}

Box inside(const MachineFigure& f, const Box& area) {
    return {area.x0 + f.px(8), area.y0 + f.px(4), area.x1 - f.px(8), area.y1 - f.px(6)};
}

}  // namespace

void draw_l2(MachineFigure& f, const Box& at) {
    const Theme& t = f.theme();
    f.canvas.fill(at, Theme::faded(t.bus, 0.12f), f.px(4));
    f.canvas.outline(at, t.bus, 1, f.px(4));
    Box area = inside(f, at);
    area.cut_top(Canvas::height(t.small_text) + f.px(5));
    const auto n = f.run.trace().tensors().size();
    const float each = area.w() / static_cast<float>(n);
    for (std::size_t k = 0; k < n; ++k) {
        const float left = area.x0 + static_cast<float>(k) * each;
        draw_tensor(f, static_cast<TensorId>(k), {left, area.y0, left + each, area.y1});
    }
}

void draw_l2_texts(const MachineFigure& f, const Box& at) {
    const Theme& t = f.theme();
    const ImU32 behind = Theme::mixed(t.panel, t.bus, 0.12f);
    const Box line = inside(f, at).cut_top(Canvas::height(t.small_text) + f.px(5));
    const std::string title = Canvas::that_fits(t.small_text, line.w() * 0.6f, l2_titles(f.run, f.l2));
    const float x = line.x0 + Canvas::width(t.small_text, title) + f.px(14);
    f.canvas.text_on_patch(t.small_text, line, t.ink, behind, {title});
    f.canvas.text_on_patch(t.small_text, {x, line.y0, line.x1, line.y1}, t.dim_ink, behind, l2_answer(f.run, f.l2),
                           Align::right);
    if (hovered(line)) tooltip(about_l2(f.run));
}

}  // namespace tilescope::gui::machine
