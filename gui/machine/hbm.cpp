// HBM: every tensor to scale, in the tiles in which it is used.
#include <cmath>

#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "gui/machine/cells.hpp"
#include "gui/machine/tensors.hpp"
#include "show/words/hbm_text.hpp"

namespace tilescope::gui::machine {
namespace {

/// Each read fills a cell a little more; a write fills it at once.
float fill_of(const Cell& c) {
    if (c.touches.stores > 0) return 0.92f;
    const auto n = static_cast<float>(c.touches.loads);
    return c.touches.loads > 0 ? 0.16f + 0.5f * n / (n + 4) : 0;
}

/// Writes how often a cell was read or written: into it, or beside it where the cell is as wide as the tensor. Returns
/// false where there is no room.
bool draw_mark(const MachineFigure& f, const DrawnTensor& d, const Cell& c, ImU32 fill) {
    const Theme& t = f.theme();
    ImFont* font = t.small_text;
    if (c.region < 0 || c.box.h() < Canvas::height(font) * 0.9f) return false;
    const std::vector<std::string> marks = touch_marks(c.touches);
    for (const std::string& mark : marks) {
        const ImVec2 size = Canvas::size(font, mark);
        const float y = c.box.centre().y - size.y / 2;
        const bool in = size.x + f.px(4) <= c.box.w();
        const bool beside = c.box.w() >= d.front.w() - 1 && size.x <= d.beside;
        if (in)
            f.canvas.text(font, {c.box.centre().x - size.x / 2, y}, Theme::ink_on(fill), mark, marks.front());
        else if (beside)
            f.canvas.text(font, {d.front.x1 + d.depth + f.px(3), y},
                          c.touches.read_now || c.touches.written_now ? t.highlight : t.dim_ink, mark, marks.front());
        if (in || beside) return true;
    }
    return false;
}

/// Returns whether every cell had room for its counts.
bool draw_cells(const MachineFigure& f, const DrawnTensor& d, const Cells& cells) {
    const Theme& t = f.theme();
    bool said = true;
    const ImU32 hue = t.hue(d.tensor->meaning);
    for (const Cell& c : cells.grid) {
        const ImU32 fill = Theme::mixed(t.panel, hue, fill_of(c));
        if (c.touched()) f.canvas.fill(c.box, fill);
        if (std::min(c.box.w(), c.box.h()) >= 4) f.canvas.outline(c.box, Theme::faded(hue, 0.45f));
        if (!cells.overlap) said &= draw_mark(f, d, c, fill);
    }
    for (const Cell& c : cells.others) {
        if (std::min(c.box.w(), c.box.h()) >= 4) f.canvas.outline(c.box, Theme::faded(t.panel, 0.6f));
    }
    for (const auto* list : {&cells.grid, &cells.others})
        for (const Cell& c : *list)
            if (c.touches.read_now || c.touches.written_now) f.canvas.outline(c.box.grown(0.5f), t.highlight, f.px(2));
    return said;
}

void explain(const MachineFigure& f, const DrawnTensor& d, const Cells& cells) {
    const ImVec2 mouse = ImGui::GetMousePos();
    std::string text = about_tensor(d.shown());
    if (!d.to_scale) text += "\n" + message("machine_panel.not_to_scale");
    for (const auto* list : {&cells.others, &cells.grid}) {
        const auto under =
            std::find_if(list->begin(), list->end(), [&](const Cell& c) { return c.box.contains(mouse); });
        if (under == list->end()) continue;
        const auto region = static_cast<std::size_t>(under->region);
        const Region* known = under->region >= 0 ? &d.tensor->regions[region] : nullptr;
        text += "\n\n" + about_part(f.run, *d.tensor, known, under->touches);
    }
    tooltip(text + "\n\n" + message("machine_panel.filled") + "\n" + message("machine_panel.outlined"));
}

/// The cells of a tensor as it is drawn, upright or lying.
Cells cells_where_drawn(const MachineFigure& f, const DrawnTensor& d) {
    Cells cells = cells_of(f.run, d.id, d.slice, d.turned(d.front), f.px(3));
    for (auto* list : {&cells.grid, &cells.others})
        for (Cell& c : *list) c.box = d.turned(c.box);
    return cells;
}

/// The least and the greatest number of reads of a cell, for cells without room for counts of their own.
std::string counts_of(const Cells& cells) {
    Count least = cells.grid.empty() ? 0 : cells.grid.front().touches.loads, most = 0;
    for (const Cell& c : cells.grid) least = std::min(least, c.touches.loads), most = std::max(most, c.touches.loads);
    return counts_text(least, most);
}

/// Returns the text of the counts that the cells had no room for.
std::string draw_tensor(MachineFigure& f, const DrawnTensor& d) {
    const Theme& t = f.theme();
    const ImU32 hue = t.hue(d.tensor->meaning);
    for (float back = d.depth; back > 0; back -= f.px(3)) {
        const Box b = d.front.moved(back, -back);
        f.canvas.fill(b, t.panel);
        f.canvas.outline(b, Theme::faded(hue, 0.4f));
    }
    f.canvas.fill(d.front, Theme::mixed(t.panel, hue, d.tensor->role == Role::input ? 0.07f : 0.f));
    const Cells cells = cells_where_drawn(f, d);
    f.canvas.outline(d.front, Theme::faded(hue, 0.8f));
    const bool said = draw_cells(f, d, cells);
    if (hovered({d.label.x0, d.front.y0, d.front.x1 + d.beside, d.label.y1})) explain(f, d, cells);
    for (Move& m : f.moves) {
        const Region& r = m.step->event.region;
        if (r.tensor != d.id) continue;
        m.in_front = r.slice == d.slice;
        m.region = d.turned(place_of(*d.tensor, r, d.turned(d.front)));
        if (!m.in_front) m.region = m.region.moved(d.depth, -d.depth);
    }
    return said || cells.overlap || !f.theme().in_a_hall() ? "" : counts_of(cells);
}

/// The width for a label's text: less than the label's slot, so that neighbours do not touch.
float label_width(const MachineFigure& f, const DrawnTensor& d) { return d.label.w() - f.px(8); }

/// The lines below a tensor's name. The first one is the tensor's size where it has no room beside the name.
std::vector<std::vector<std::string>> label_of(const MachineFigure& f, const DrawnTensor& d, bool with_type) {
    auto lines = tensor_lines(d.shown(), *f.run.algorithm().computes, with_type);
    if (Canvas::width(f.theme().title, tensor_title(d.shown())) > label_width(f, d))
        lines.insert(lines.begin(), {tensor_size(d.shown())});
    return lines;
}

void draw_label(const MachineFigure& f, const DrawnTensor& d, bool with_type, const std::string& counts) {
    const Theme& t = f.theme();
    Box area = d.label;
    const Box name = area.cut_top(Canvas::height(t.title) + f.px(2));
    const float x = f.canvas.text_in(t.title, name, t.ink, d.tensor->name) + f.px(6);
    const auto lines = label_of(f, d, with_type);
    float end = x;
    if (lines.size() == 2)
        end = f.canvas.text_in(t.text, {x, name.y0, name.x1, name.y1}, t.ink, tensor_size(d.shown())) + f.px(8);
    if (!counts.empty() && Canvas::fits(t.small_text, counts, name.x1 - end))
        f.canvas.text_in(t.small_text, {end, name.y0, name.x1, name.y1}, t.dim_ink, counts);
    for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(d.label_lines); ++i) {
        const Box line = area.cut_top(Canvas::height(t.small_text) + f.px(1));
        // A line that has no room is left out, not cut: the tooltip has all lines.
        const std::string& shown = Canvas::that_fits(t.small_text, label_width(f, d), lines[i]);
        if (Canvas::width(t.small_text, shown) <= line.w())
            f.canvas.text(t.small_text, {line.x0, line.y0 + f.px(0.5f)}, t.dim_ink, shown, lines[i].front());
    }
}

}  // namespace

void draw_hbm(MachineFigure& f, Box area) {
    const std::vector<DrawnTensor> all = arranged_tensors(f, area);
    const bool with_type = std::all_of(all.begin(), all.end(), [&](const DrawnTensor& d) {
        return Canvas::size(f.theme().small_text, tensor_shape(d.shown())).x <= label_width(f, d);
    });
    for (const DrawnTensor& d : all) {
        const std::string counts = draw_tensor(f, d);
        draw_label(f, d, with_type, counts);
    }
}

void draw_hbm_title(const MachineFigure& f, const Box& line) {
    f.canvas.text_on_patch(f.theme().text, line, f.theme().ink, f.theme().panel, hbm_titles(f.run));
}

}  // namespace tilescope::gui::machine
