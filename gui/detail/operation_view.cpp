#include <algorithm>

#include "gui/detail/tile_pictures.hpp"
#include "gui/draw/canvas.hpp"
#include "gui/draw/message.hpp"
#include "gui/draw/whole.hpp"
#include "show/words/sm_text.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::gui::detail {
using namespace lab;

using namespace show;
namespace {

/// A picture in the equation.
struct Piece {
    const RecordedTile* tile;
    std::string name;  // of the tile's contents
    TileData values;
    std::string note;  // "before", or empty
    ColourScale scale;
    Region region = {};
    float width = 0, height = 0;  // of the picture
    float place = 0;              // width with its caption

    bool is_column() const { return tile->cols == 1; }
};

struct Equation {
    std::string heading;
    std::vector<Piece> from;  // operands, previous contents
    Piece to;                 // what was written, or stored
    bool stacked = false;     // operands above, the result below

    bool has_before() const { return !from.empty() && !from.back().note.empty(); }
    bool has_operands() const { return !from.empty() && from.front().note.empty(); }
};

const TileState* find(const SmState& sm, TileId id) {
    for (const TileState& t : sm.tiles)
        if (t.tile == id) return &t;
    return nullptr;
}

Piece piece(const Run& run, const TileState& live) {
    const TileData values = run.player().values(live);
    return {&run.trace().tiles()[live.tile], run.contents().after(live.written), values, "", scale_of(values)};
}

/// What the last operation did; without one, the tile that was written last.
std::optional<Equation> equation(const Run& run, const SmState& sm) {
    const Step* op = run.operation(sm);
    const TileState* written = op ? find(sm, op->tile()) : nullptr;
    if (!written) {
        const auto last =
            std::max_element(sm.tiles.begin(), sm.tiles.end(), [](auto& a, auto& b) { return a.written < b.written; });
        if (last == sm.tiles.end()) return std::nullopt;
        Equation e{"", {}, piece(run, *last)};
        e.heading = written_last_text(e.to.name);
        return e;
    }
    Equation e{operation_text(run, sm.steps.back()), {}, piece(run, *written)};
    if (op->moves_data()) {
        e.to.region = op->event.region;
        return e;
    }
    for (const TileId id : {op->event.a(), op->event.b()})
        if (const TileState* operand = id == op->event.out ? nullptr : find(sm, id))
            e.from.push_back(piece(run, *operand));
    const TileData before = run.values_before(*written);
    Piece old{e.to.tile, run.contents().before(sm.steps.back()), before, message("detail.before"), scale_of(before)};
    // Previous contents of a single value (zeros, say) need no picture: the result is clear without it.
    if (before.size() != e.to.values.size() || (old.scale.flat() && !old.is_column())) return e;
    old.scale = common_scale(e.to.scale, old.scale);
    e.to.scale = common_scale(old.scale, e.to.scale);
    e.from.push_back(std::move(old));
    return e;
}

/// Sets the size of a picture of at most `height`; with `numbers`, cells are wide enough for numbers if these fit.
/// Returns whether they fit. `margin` is the space above and below a number together.
bool fit(const Theme& t, Piece& p, float height, float widest, bool numbers, float margin = 2) {
    const float rows = static_cast<float>(p.tile->rows), cols = static_cast<float>(p.tile->cols);
    numbers &= height / rows >= t.small_text->FontSize + t.px(margin) && cols * t.px(number_cell) <= widest;
    p.height = std::min(height, rows * t.px(40));
    p.width = numbers         ? cols * t.px(number_cell)
              : p.is_column() ? t.px(18)
                              : p.height * std::clamp(cols / rows, 0.4f, 2.5f);
    if (p.width > widest) p.height *= std::max(widest / p.width, 0.4f), p.width = widest;
    const float caption = t.px(12) + Canvas::width(t.small_text, p.name + (p.note.empty() ? "" : " " + p.note));
    p.place = std::max(p.width, std::min(caption, t.px(p.note.empty() ? 46 : 84)));
    return numbers;
}

float caption_height(const Theme& t) { return t.small_text->FontSize + t.px(4); }

/// Puts the operands above the result, all as numbers: a lecturer multiplies them at sight. Where not all fit,
/// returns false and changes nothing.
bool stack(const Theme& t, Equation& e, ImVec2 room) {
    const float gap = t.px(12), height = (room.y - caption_height(t) - gap) / 2;
    Equation s = e;
    s.stacked = true;
    bool numbers = fit(t, s.to, height, room.x, true, 0);
    float above = -gap, below = s.to.place + t.px(26);
    for (Piece& p : s.from) {
        numbers &= fit(t, p, height, room.x, true, 0);
        (p.note.empty() ? above : below) += p.place + gap;
    }
    if (!numbers || !e.has_operands() || std::max(above, below) > room.x) return false;
    e = std::move(s);
    return true;
}

/// Makes the result as large as it can be, then the operands: with numbers beside it, else above it, else smaller and
/// without numbers. Operands that find no room at all are left out.
void fit(const Theme& t, Equation& e, ImVec2 room, float scales) {
    const float gap = t.px(12), arrow = t.px(26);
    fit(t, e.to, room.y, e.from.empty() ? room.x : room.x * 0.55f, true);
    e.to.place = std::max(e.to.place, std::min(t.px(100), t.px(14) + Canvas::width(t.small_text, e.to.name)));
    const auto fits = [&](float height, bool numbers) {
        float used = e.to.place + arrow - gap;
        for (Piece& p : e.from) fit(t, p, height, room.x, numbers), used += p.place + gap;
        return used <= room.x;
    };
    if (!fits(e.to.height, true) && stack(t, e, {room.x, room.y + scales})) return;
    for (; !e.from.empty(); e.from.erase(e.from.begin())) {
        if (fits(e.to.height, true)) return;
        for (float height = e.to.height; height >= t.px(30); height -= t.px(2))
            if (fits(height, false)) return;
    }
}

void draw_piece(const TilePainter& painter, const Piece& p, ImVec2 at, bool is_result, bool with_scale) {
    const Theme& t = painter.theme;
    const float caption = caption_height(t);
    const std::string more = p.note.empty() ? tile_shape(*p.tile) : p.note;
    painter.caption(p.name, p.tile->meaning, more, at, p.place, true, !p.note.empty());
    const ImVec2 corner = {at.x, at.y + caption}, size = {p.width, p.height};
    painter.paint(*p.tile, p.values, p.scale, corner, size, p.note, p.region);
    if (is_result)
        painter.outline(corner, size, t.highlight, t.px(2));
    else if (p.note.empty())
        painter.outline(corner, size, t.ink, t.px(1));
    if (with_scale && !p.is_column() && p.width >= t.px(64))
        draw_scale(t, painter.palette, p.scale, {at.x, corner.y + p.height + t.px(4)}, p.width);
}

/// Writes the first rows of a column as numbers, where its cells are too low for numbers.
void draw_rows(const TilePainter& painter, const Equation& e, ImVec2 at, ImVec2 room) {
    const Theme& t = painter.theme;
    const float line = t.small_text->FontSize + t.px(2), column = t.px(66);
    const Piece* before = e.has_before() ? &e.from.back() : nullptr;
    const float numbers = before ? 2 * column : column, first = t.px(30);
    if (room.x < first + numbers || e.to.values.empty()) return;
    const auto right = [&](float x, float y, ImU32 colour, const std::string& text) {
        Canvas(t).text(t.small_text, {at.x + x - Canvas::width(t.small_text, text), at.y + y}, colour, text);
    };
    right(first, 0, t.dim_ink, message("detail.row"));
    if (before) right(first + column, 0, t.dim_ink, message("detail.before"));
    right(first + numbers, 0, t.dim_ink, message(before ? "detail.after" : "detail.value"));
    // One line is the heading.
    const auto most = static_cast<Index>(e.to.values.size());
    const auto rows = static_cast<std::size_t>(whole(room.y / line - 1, 0, most));
    for (std::size_t r = 0; r < rows; ++r) {
        const float y = static_cast<float>(r + 1) * line + t.px(2);
        right(first, y, t.dim_ink, r + 1 == rows && rows < e.to.values.size() ? "…" : std::to_string(r));
        if (r + 1 == rows && rows < e.to.values.size()) break;
        if (before) right(first + column, y, t.ink, value_text(before->values[r]));
        right(first + numbers, y, t.ink, value_text(e.to.values[r]));
    }
}

}  // namespace

void operation_view(const TilePainter& painter, const SmState& sm, ImVec2 at, ImVec2 size) {
    const Theme& t = painter.theme;
    const Canvas c(t);
    auto e = equation(painter.run, sm);
    if (!e) {
        c.text(t.small_text, at, t.dim_ink, message("detail.nothing_on_chip"));
        return;
    }
    const float line = t.small_text->FontSize;
    c.text_in(t.text, {at.x, at.y, at.x + size.x, at.y + t.text->FontSize}, t.ink, e->heading);
    const ImVec2 top = {at.x + t.px(2), at.y + t.text->FontSize + t.px(6)};
    // In a low panel, the pictures take the room of the scales below them.
    const float scales = size.y < t.px(130) ? 0 : line + t.px(4);
    const ImVec2 room = {size.x - t.px(4), size.y - t.text->FontSize - line - t.px(14) - scales};
    fit(t, *e, room, scales);
    const bool with_scales = scales > 0 && !e->stacked;
    float x = top.x, y = top.y, highest = 0;
    const auto next_row = [&] { x = top.x, y = top.y + caption_height(t) + highest + t.px(12); };
    for (const Piece& p : e->from) {
        if (e->stacked && !p.note.empty()) next_row();
        draw_piece(painter, p, {x, y}, false, with_scales);
        x += p.place + t.px(12), highest = std::max(highest, p.height);
    }
    if (e->stacked && !e->has_before()) next_row(), x += t.px(12);
    if (!e->from.empty()) {
        const float middle = y + caption_height(t) + std::min(e->to.height, e->from.back().height) / 2;
        c.text(t.title, {x - t.px(6), middle - t.px(9)}, t.ink, "→");
        x += t.px(14);
    }
    draw_piece(painter, e->to, {x, y}, true, with_scales);
    x += e->to.place + t.px(10);
    if (e->to.is_column() && e->to.width < t.px(30)) draw_rows(painter, *e, {x, y}, {at.x + size.x - x, room.y + line});
}

}  // namespace tilescope::gui::detail
