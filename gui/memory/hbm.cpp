// HBM: every tensor to scale, in the tiles in which it is used.
#include <cmath>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "gui/draw/items.hpp"
#include "gui/memory/cells.hpp"
#include "gui/memory/tensors.hpp"
#include "show/narration.hpp"

namespace tilescope::gui::memory {
namespace {

std::string heads_line(const DrawnTensor& d, Family family) {
    if (d.slices == 1) return "";
    return (family == Family::softmax ? "matrix " : "head ") + std::to_string(d.slice + 1) + " of " +
           std::to_string(d.slices);
}

/// Reads fill a cell by and by; a write fills it.
float fill_of(const Cell& c) {
    if (c.stores > 0) return 0.92f;
    const auto n = static_cast<float>(c.loads);
    return c.loads > 0 ? 0.16f + 0.5f * n / (n + 4) : 0;
}

/// What just happened and how often it was read; where that is too long, the count.
std::vector<std::string> marks_of(const Cell& c) {
    const std::string arrow = c.written_now ? "↓" : c.read_now ? "↑" : "";
    const std::string count = c.loads > 0 ? "×" + std::to_string(c.loads) : "";
    if (arrow.empty() || count.empty()) return {arrow + count};
    return {arrow + count, count};
}

/// What was done to a cell, in it or, where it is a whole row of a thin tensor, beside it.
void draw_mark(const MemoryFigure& f, const DrawnTensor& d, const Cell& c, ImU32 fill) {
    const Theme& t = f.theme();
    ImFont* font = t.small_text;
    if (c.region < 0 || c.box.h() < Canvas::height(font) * 0.9f) return;
    const std::vector<std::string> marks = marks_of(c);
    for (const std::string& mark : marks) {
        const ImVec2 size = Canvas::size(font, mark);
        const float y = c.box.centre().y - size.y / 2;
        const bool in = size.x + f.px(4) <= c.box.w();
        const bool beside = c.box.w() >= d.front.w() - 1 && size.x <= d.beside;
        if (in)
            f.canvas.text(font, {c.box.centre().x - size.x / 2, y}, Theme::ink_on(fill), mark, marks.front());
        else if (beside)
            f.canvas.text(font, {d.front.x1 + d.depth + f.px(3), y},
                          c.read_now || c.written_now ? t.highlight : t.dim_ink, mark, marks.front());
        if (in || beside) return;
    }
}

void draw_cells(const MemoryFigure& f, const DrawnTensor& d, const Cells& cells) {
    const Theme& t = f.theme();
    const ImU32 hue = t.hue(d.tensor->name);
    for (const Cell& c : cells.grid) {
        const ImU32 fill = Theme::mixed(t.panel, hue, fill_of(c));
        if (c.touched()) f.canvas.fill(c.box, fill);
        if (std::min(c.box.w(), c.box.h()) >= 4) f.canvas.outline(c.box, Theme::faded(hue, 0.45f));
        if (!cells.overlap) draw_mark(f, d, c, fill);
    }
    for (const Cell& c : cells.others) {
        if (std::min(c.box.w(), c.box.h()) >= 4) f.canvas.outline(c.box, Theme::faded(t.panel, 0.6f));
    }
    for (const auto* list : {&cells.grid, &cells.others})
        for (const Cell& c : *list)
            if (c.read_now || c.written_now) f.canvas.outline(c.box.grown(0.5f), t.highlight, f.px(2));
}

void explain(const MemoryFigure& f, const DrawnTensor& d, const Cells& cells) {
    const ImVec2 mouse = ImGui::GetMousePos();
    std::string text =
        name_line(d) + " in HBM: " + std::to_string(d.slices) + " × " + shape_line(d) + ", " + name_of(d.tensor->role);
    if (!d.to_scale) text += "\ndrawn wider than to scale";
    for (const auto* list : {&cells.others, &cells.grid}) {
        const auto under =
            std::find_if(list->begin(), list->end(), [&](const Cell& c) { return c.box.contains(mouse); });
        if (under == list->end()) continue;
        if (under->region >= 0) {
            const Region& r = d.tensor->regions[static_cast<std::size_t>(under->region)];
            text += "\n\n" + d.tensor->name + " " + rows_of(f.run, r) + ": " +
                    text::bytes(static_cast<double>(r.rows.size * r.cols.size * size_of(d.tensor->dtype)));
        } else {
            text += "\n\ntiles smaller than a dot, at most";
        }
        text += "\nread " + text::grouped(under->loads) + "×, written " + text::grouped(under->stores) + "×";
    }
    tooltip(text + "\n\nfilled more with every read; solid: written\noutlined, ↑ or ↓: just read or written");
}

void draw_tensor(MemoryFigure& f, const DrawnTensor& d) {
    const Theme& t = f.theme();
    const ImU32 hue = t.hue(d.tensor->name);
    for (float back = d.depth; back > 0; back -= f.px(3)) {
        const Box b = d.front.moved(back, -back);
        f.canvas.fill(b, t.panel);
        f.canvas.outline(b, Theme::faded(hue, 0.4f));
    }
    f.canvas.fill(d.front, Theme::mixed(t.panel, hue, d.tensor->role == Role::input ? 0.07f : 0.f));
    const Cells cells = cells_of(f.run, d.id, d.slice, d.front, f.px(3));
    f.canvas.outline(d.front, Theme::faded(hue, 0.8f));
    draw_cells(f, d, cells);
    if (hovered({d.label.x0, d.front.y0, d.front.x1 + d.beside, d.label.y1})) explain(f, d, cells);
    for (Move& m : f.moves) {
        const Region& r = m.step->event.region;
        if (r.tensor != d.id) continue;
        m.in_front = r.slice == d.slice;
        m.region = place_of(*d.tensor, r, d.front);
        if (!m.in_front) m.region = m.region.moved(d.depth, -d.depth);
    }
}

/// Not all of its place: neighbours must not touch.
float label_width(const MemoryFigure& f, const DrawnTensor& d) { return d.label.w() - f.px(8); }

/// What is written below a tensor, the most important first; in narrow places a word a line.
std::vector<std::vector<std::string>> label_of(const MemoryFigure& f, const DrawnTensor& d, bool with_type) {
    const float w = label_width(f, d);
    const std::string role = name_of(d.tensor->role), heads = heads_line(d, f.run.algorithm().family);
    const std::string bytes = text::bytes(static_cast<double>(d.bytes));
    const std::string shape = std::to_string(d.tensor->rows) + "×" + std::to_string(d.tensor->cols);
    std::vector<std::vector<std::string>> lines;
    if (Canvas::size(f.theme().title, name_line(d)).x > w) lines.push_back({bytes});
    lines.push_back({with_type ? shape_line(d) : shape});
    if (heads.empty())
        lines.push_back({role});
    else
        lines.push_back({role + " · " + heads, d.tensor->role == Role::scratch ? role : heads});
    return lines;
}

void draw_label(const MemoryFigure& f, const DrawnTensor& d, bool with_type) {
    const Theme& t = f.theme();
    Box area = d.label;
    const Box name = area.cut_top(Canvas::height(t.title) + f.px(2));
    const float x = f.canvas.text_in(t.title, name, t.ink, d.tensor->name) + f.px(6);
    const auto lines = label_of(f, d, with_type);
    if (lines.size() == 2)
        f.canvas.text_in(t.text, {x, name.y0, name.x1, name.y1}, t.ink, text::bytes(static_cast<double>(d.bytes)));
    for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(d.label_lines); ++i) {
        const Box line = area.cut_top(Canvas::height(t.small_text) + f.px(1));
        // Half a number would be worse than none; the tooltip has them all.
        const std::string& shown = Canvas::that_fits(t.small_text, label_width(f, d), lines[i]);
        if (Canvas::width(t.small_text, shown) <= line.w())
            f.canvas.text(t.small_text, {line.x0, line.y0 + f.px(0.5f)}, t.dim_ink, shown, lines[i].front());
    }
}

}  // namespace

void draw_hbm(MemoryFigure& f, Box area) {
    const std::vector<DrawnTensor> all = arranged_tensors(f, area);
    const bool with_type = std::all_of(all.begin(), all.end(), [&](const DrawnTensor& d) {
        return Canvas::size(f.theme().small_text, shape_line(d)).x <= label_width(f, d);
    });
    for (const DrawnTensor& d : all) {
        draw_tensor(f, d);
        draw_label(f, d, with_type);
    }
}

void draw_hbm_title(const MemoryFigure& f, const Box& line) {
    const Theme& t = f.theme();
    const Report& r = f.run.counted();
    const std::string used = text::bytes(static_cast<double>(r.hbm_footprint));
    const std::string extra = text::bytes(static_cast<double>(r.hbm_extra));
    std::vector<std::string> names;
    for (const TensorReport& tensor : r.tensors)
        if (std::string_view("QKVOXY").find(tensor.name) == std::string_view::npos) names.push_back(tensor.name);
    const std::string which = " (" + text::join(names, ", ") + ")";
    const std::string all = "HBM " + text::binary_bytes(r.experiment.gpu.hbm_bytes) + " · " + used + " used";
    std::vector<std::string> words = {all};
    if (r.hbm_extra > 0)
        words = {all + " · of which " + extra + " extra" + which, all + " · " + extra + " extra",
                 "HBM " + used + " · " + extra + " extra" + which, "HBM " + used};
    f.canvas.text_on_patch(t.text, line, t.ink, t.panel, words);
}

}  // namespace tilescope::gui::memory
