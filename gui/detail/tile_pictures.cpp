#include "gui/detail/tile_pictures.hpp"

#include <algorithm>

#include "core/machine/sorted.hpp"
#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "show/words/sm_text.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::gui::detail {

using namespace show;
namespace {

/// The order of the pictures: scores, the statistics of their rows, tiles that become the output, and the rest.
int rank(const RecordedTile& t) {
    switch (t.meaning) {
        case Meaning::score:
            return 0;
        case Meaning::statistic:
            return 1;
        case Meaning::output:
            return 2;
        default:
            return 3;
    }
}

}  // namespace

void TilePainter::outline(ImVec2 at, ImVec2 size, ImU32 colour, float width) const {
    ImGui::GetWindowDrawList()->AddRect({at.x - width, at.y - width}, {at.x + size.x + width, at.y + size.y + width},
                                        colour, 0, 0, width);
}

void TilePainter::caption(const std::string& name, Meaning meaning, const std::string& more, ImVec2 at, float width,
                          bool live, bool keep_more) const {
    ImFont* font = theme.small_text;
    const float square = theme.px(8), left = square + theme.px(4), y = at.y + (font->FontSize - square) / 2 + 1;
    const Canvas c(theme);
    c.fill({at.x, y, at.x + square, y + square}, Theme::faded(theme.hue(meaning), live ? 1.f : 0.35f));
    const float rest = Canvas::width(font, " " + more), end = at.x + width - (keep_more ? rest : 0);
    const float used =
        c.text_in(font, {at.x + left, at.y, end, at.y + font->FontSize}, live ? theme.ink : theme.dim_ink, name);
    if (!more.empty() && used + rest <= at.x + width + 1) c.text(font, {used, at.y}, theme.dim_ink, " " + more, more);
}

void TilePainter::paint(const RecordedTile& tile, TileData values, const ColourScale& scale, ImVec2 at, ImVec2 size,
                        const std::string& note, const Region& region) const {
    outline(at, size, theme.panel_border, 1);
    const auto cell = draw(theme, palette, {values, tile.rows, tile.cols, at, size, scale});
    if (!cell) return;
    tooltip(about_values(tile, note, region, {cell->rows, cell->cols, cell->value}));
}

std::vector<Gallery::Slot> Gallery::slots_of(const Run& run, const SmState& sm) {
    constexpr std::ptrdiff_t enough = 4096;  // tiles: iterations of the inner loop repeat the same names
    const auto& all = run.trace().tiles();
    const std::pair block{sm.block->launch, sm.block->block};
    auto tile = std::partition_point(all.begin(), all.end(),
                                     [&](const RecordedTile& t) { return std::pair(t.launch, t.block) < block; });
    std::vector<Slot> slots;
    const auto slot_for = [&](const RecordedTile& t) -> Slot& {
        for (Slot& s : slots)
            if (s.tile->name == t.name) return s;
        return slots.emplace_back(Slot{&t});
    };
    const auto end = all.end() - tile > enough ? tile + enough : all.end();
    for (; tile != end && std::pair(tile->launch, tile->block) == block; ++tile) slot_for(*tile);
    for (const TileState& live : sm.tiles) {
        Slot& s = slot_for(all[live.tile]);
        s.tile = &all[live.tile], s.live = &live;
    }
    sort_stably(slots, [](const Slot& a, const Slot& b) { return rank(*a.tile) < rank(*b.tile); });
    return slots;
}

bool Gallery::arrange(const Theme& t, ImVec2 room, float picture) {
    const float caption = t.small_text->FontSize + t.px(3);
    picture_ = picture;
    float x = 0, y = 0;
    for (Slot& s : slots_) {
        const float aspect = static_cast<float>(s.tile->cols) / static_cast<float>(s.tile->rows);
        s.width = s.tile->cols == 1 ? t.px(16) : std::max(t.px(16), picture * std::clamp(aspect, 0.4f, 2.5f));
        const float place = std::max(s.width, t.px(31));
        if (x > 0 && x + place > room.x) x = 0, y += caption + picture + t.px(6);
        s.at = {x, y};
        x += place + t.px(8);
    }
    height_ = y + caption + picture;
    return height_ <= room.y;
}

Gallery::Gallery(const TilePainter& painter, const SmState& sm, ImVec2 room) : slots_(slots_of(painter.run, sm)) {
    const Theme& t = painter.theme;
    float picture = room.y * 0.6f;
    while (!arrange(t, room, picture) && picture > t.px(16)) picture -= t.px(2);
}

void Gallery::draw(const TilePainter& painter, const SmState& sm, ImVec2 at) const {
    const Theme& t = painter.theme;
    const Step* op = painter.run.operation(sm);
    for (const Slot& s : slots_) {
        const ImVec2 top = {at.x + s.at.x, at.y + s.at.y}, extent = {s.width, picture_};
        const ImVec2 corner = {top.x, top.y + t.small_text->FontSize + t.px(3)};
        const std::string& name = s.live ? painter.run.contents().after(s.live->written) : s.tile->name;
        painter.caption(name, s.tile->meaning, tile_shape(*s.tile), top, std::max(s.width, t.px(31)),
                        s.live != nullptr);
        if (!s.live) {
            painter.outline(corner, extent, t.faint, 1);
            continue;
        }
        const TileData values = painter.run.player().values(*s.live);
        painter.paint(*s.tile, values, scale_of(values), corner, extent);
        if (!op) continue;
        if (op->tile() == s.live->tile)
            painter.outline(corner, extent, t.highlight, t.px(2));
        else if (op->event.a() == s.live->tile || op->event.b() == s.live->tile)
            painter.outline(corner, extent, t.ink, t.px(1));
    }
}

void tile_list(const TilePainter& painter, const SmState& sm) {
    const Theme& t = painter.theme;
    const Step* op = painter.run.operation(sm);
    const float line = t.small_text->FontSize + t.px(5);
    for (const TileState& live : sm.tiles) {
        const RecordedTile& tile = painter.run.trace().tiles()[live.tile];
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float width = ImGui::GetContentRegionAvail().x;
        const bool written = op && op->tile() == live.tile;
        painter.caption(painter.run.contents().after(live.written), tile.meaning,
                        tile_shape(tile) + " " + name_of(tile.dtype), at, width * 0.6f);
        const std::string bytes = tile_size(tile), space = name_of(tile.space);
        const Canvas c(t);
        c.text(t.small_text, {at.x + width * 0.6f, at.y}, t.dim_ink, space);
        c.text(t.small_text, {at.x + width - Canvas::width(t.small_text, bytes) - t.px(4), at.y}, t.ink, bytes);
        if (written)
            painter.outline({at.x + t.px(1), at.y - t.px(1)}, {width - t.px(2), line - t.px(2)}, t.highlight, t.px(1));
        ImGui::Dummy({width, line - ImGui::GetStyle().ItemSpacing.y});
    }
}

}  // namespace tilescope::gui::detail
