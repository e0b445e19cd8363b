// The matrices along the wall, and a dash for every time that one of their tiles crossed the SMs' boundary.
#include <algorithm>
#include <cmath>

#include "gui/draw/items.hpp"
#include "gui/draw/titles.hpp"
#include "gui/wall/figure.hpp"
#include "show/stage/wall_text.hpp"

namespace tilescope::gui::wall {
namespace {

constexpr double most_dashes = 12;  // for more trips, a bar of the same length

Box strip_of(const WallFigure& f, const WallEdge& e) {
    const Box& m = e.by_row() ? f.seen : f.stack;
    const EdgeRoom& room = f.room(e);
    const float from = room.from, to = room.from + room.strip;
    switch (e.side) {
        case Side::left:
            return {m.x0 - f.beside - to, m.y0, m.x0 - f.beside - from, m.y1};
        case Side::above:
            return {m.x0, m.y0 - f.above - to, m.x1, m.y0 - f.above - from};
        case Side::below:
            return {m.x0, m.y1 + from, m.x1, m.y1 + to};
        case Side::between:
            return {m.x1 + from, m.y0, m.x1 + to, m.y1};
        case Side::right:
            break;
    }
    return {m.x1 + f.statistics + from, m.y0, m.x1 + f.statistics + to, m.y1};
}

/// Finds the room for each edge. Several strips on one side are narrower, and each has room for its own trips.
void find_rooms(WallFigure& f) {
    const auto& edges = f.wall.edges();
    double most = most_dashes;
    for (const WallEdge& e : edges)
        if (e.side != Side::between) most = std::max(most, f.wall.most_trips(e).all());
    f.a_trip = static_cast<double>(f.marks - f.px(5)) / most;
    f.rooms.assign(edges.size(), {});
    for (int nth = 0; nth < static_cast<int>(edges.size()); ++nth)
        for (const WallEdge& e : edges) {
            if (e.nth != nth) continue;
            EdgeRoom& room = f.rooms[static_cast<std::size_t>(&e - edges.data())];
            if (e.side == Side::between) {
                room = {f.gap + static_cast<float>(nth) * f.pitch(), f.thin, 0};
                continue;
            }
            const bool alone = std::count_if(edges.begin(), edges.end(),
                                             [&](const WallEdge& other) { return other.side == e.side; }) == 1;
            const float trips = f.px(6) + static_cast<float>(f.a_trip * f.wall.most_trips(e).all());
            room = {nth == 0 ? f.gap : f.room(e.side), alone ? f.strip : 0.72f * f.strip, alone ? f.marks : trips};
        }
}

Box tile_box(const WallFigure& f, const WallEdge& e, const Box& strip, Index k) {
    const Span s = e.tiles[k];
    if (e.by_row()) return {strip.x0, f.y_of(s.begin), strip.x1, f.y_end(s.end())};
    return {f.x_of(s.begin), strip.y0, f.x_of(s.end()), strip.y1};
}

/// The area from `from` to `to` pixels outside a tile, on its strip's outer side.
Box outwards(const WallEdge& e, const Box& tile, float from, float to) {
    switch (e.side) {
        case Side::left:
            return {tile.x0 - to, tile.y0, tile.x0 - from, tile.y1};
        case Side::above:
            return {tile.x0, tile.y0 - to, tile.x1, tile.y0 - from};
        case Side::below:
            return {tile.x0, tile.y1 + from, tile.x1, tile.y1 + to};
        default:
            return {tile.x1 + from, tile.y0, tile.x1 + to, tile.y1};
    }
}

Box shorter(const WallEdge& e, Box b, float by) {
    if (e.by_row())
        b.y0 += std::min(by, b.h() / 4), b.y1 -= std::min(by, b.h() / 3);
    else
        b.x0 += std::min(by, b.w() / 4), b.x1 -= std::min(by, b.w() / 3);
    return b;
}

/// Draws a mark in two halves, for a trip that added to what is in HBM.
void draw_halves(const WallFigure& f, const WallEdge& e, const Box& b, ImU32 colour) {
    const float gap = f.px(3);
    const ImVec2 m = b.centre();
    if (e.by_row())
        f.canvas.fill({b.x0, b.y0, b.x1, m.y - gap}, colour), f.canvas.fill({b.x0, m.y + gap, b.x1, b.y1}, colour);
    else
        f.canvas.fill({b.x0, b.y0, m.x - gap, b.y1}, colour), f.canvas.fill({m.x + gap, b.y0, b.x1, b.y1}, colour);
}

/// Draws the trips of a tile: solid for a read, open for a write, in two halves for an addition. Trips of this step
/// stand out.
void draw_trips(const WallFigure& f, const WallEdge& e, const Box& tile, Index k) {
    enum class Mark : std::uint8_t { solid, open, halves };
    const double unit = f.a_trip;
    const Theme& t = f.theme();
    const Trips now = f.wall.trips(e, k, f.tick()), before = f.wall.trips(e, k, std::max<Index>(0, f.tick() - 1));
    const ImU32 hue = t.hue(e.meaning);
    const auto px = [&](double trips) { return f.px(4) + static_cast<float>(trips * unit); };
    const float space = std::min(f.px(1.5f), static_cast<float>(unit) * 0.35f);
    const auto mark = [&](double from, double to, ImU32 colour, Mark how) {
        const Box b = shorter(e, outwards(e, tile, px(from), px(to) - space), f.px(2));
        if (how == Mark::halves) return draw_halves(f, e, b, colour);
        how == Mark::open ? f.canvas.outline(b, colour) : f.canvas.fill(b, colour);
    };
    const auto marks = [&](double from, double n, double old, Mark how) {
        if (n <= 0) return;
        if (unit < static_cast<double>(f.px(2.2f))) {
            const Mark bar = how == Mark::open ? Mark::solid : how;
            mark(from, from + n, how == Mark::open ? Theme::faded(hue, 0.55f) : hue, bar);
            if (n > old) mark(from + old, from + n, t.now, bar);
            return;
        }
        for (double x = 0; x < n; x += 1) mark(from + x, from + std::min(x + 1, n), x >= old - 1e-9 ? t.now : hue, how);
    };
    marks(0, now.read, before.read, Mark::solid);
    marks(now.read, now.written, before.written, Mark::open);
    marks(now.read + now.written, now.reduced, before.reduced, Mark::halves);
}

/// Writes the parts of a text in as few lines as the width allows; returns whether there is room for them.
bool say_in_lines(const WallFigure& f, const Box& b, ImU32 ink, const std::vector<std::string>& parts) {
    const Theme& t = f.theme();
    const auto fits = [&](const std::string& s) { return Canvas::width(t.small_text, s) <= b.w() - f.px(3); };
    std::vector<std::string> lines;
    for (const std::string& part : parts) {
        if (!fits(part)) return false;
        const std::string joined = lines.empty() ? "" : lines.back() + (part[0] == '+' ? " " : "") + part;
        if (!lines.empty() && fits(joined))
            lines.back() = joined;
        else
            lines.push_back(part);
    }
    const float line = Canvas::height(t.small_text) - f.px(1), all = line * static_cast<float>(lines.size());
    if (all > b.h()) return false;
    float y = b.centre().y - all / 2;
    for (const std::string& said : lines) {
        f.canvas.text_in(t.small_text, {b.x0, y, b.x1, y + line}, ink, said, Align::centre);
        y += line;
    }
    return true;
}

/// Writes a tile's name and trips. Where only one of them has room, writes the trips or, with `name_first`, the name.
void say_in_tile(const WallFigure& f, const Box& b, ImU32 ink, const std::string& name, const Trips& made,
                 bool name_first) {
    const Theme& t = f.theme();
    const float line = Canvas::height(t.small_text), line2 = Canvas::height(t.text);
    const std::string trips = trips_mark(made);
    const auto fits = [&](const std::string& s, ImFont* font, float margin) {
        return Canvas::width(font, s) <= b.w() - f.px(margin);
    };
    if (b.h() >= line + line2 && fits(name, t.small_text, 3) && fits(trips, t.text, 3)) {
        const float half = b.centre().y - (line2 - line) / 2;
        f.canvas.text_in(t.small_text, {b.x0, half - line, b.x1, half}, ink, name, Align::centre);
        f.canvas.text_in(t.text, {b.x0, half, b.x1, half + line2}, ink, trips, Align::centre);
        return;
    }
    std::string said = name_first && fits(name, t.small_text, 1) ? name : trips;
    if (!fits(said, t.small_text, 1)) {
        if (say_in_lines(f, b, ink, trips_marks(made)) || made.reduced == 0) return;
        said = trips_marks(made).back();
    }
    if (b.h() >= line && fits(said, t.small_text, 1)) f.canvas.text_in(t.small_text, b, ink, said, Align::centre);
}

/// A tile on chip is drawn large enough for its name, if that takes at most 1.7 times the tile's own size.
Box with_room_for_name(const WallFigure& f, const WallEdge& e, const Box& tile, Index k) {
    constexpr float most = 1.7f;
    ImFont* font = f.theme().small_text;
    const float w = std::max(tile.w(), Canvas::width(font, tile_name(e.name, k)) + f.px(4));
    const float h = std::max(tile.h(), Canvas::height(font) + f.px(2));
    if (w > most * tile.w() || h > most * tile.h()) return tile;
    const ImVec2 middle = tile.centre();
    return {middle.x - w / 2, middle.y - h / 2, middle.x + w / 2, middle.y + h / 2};
}

void draw_tile(const WallFigure& f, const WallEdge& e, const Box& tile, Index k, bool on_chip) {
    const Theme& t = f.theme();
    const Trips trips = f.wall.trips(e, k, f.tick());
    const ImU32 hue = t.hue(e.meaning);
    const bool there = f.run.trace().tensors()[e.tensor].role == Role::input || trips.written > 0;
    const float least = std::min(tile.w(), tile.h()), inset = least >= f.px(8) ? f.px(1) : 0;
    const Box b = tile.grown(-inset);
    const ImU32 fill = Theme::mixed(t.panel, hue, on_chip ? 0.88f : there ? 0.28f : 0.f);
    const float round = on_chip ? std::min(f.px(7), least / 3) : 0;
    if (on_chip || there) f.canvas.fill(b, fill, round);
    if (on_chip && least >= f.px(6))
        f.canvas.outline(b, t.now, f.px(1.5f), round);
    else if (there && least >= f.px(4))
        f.canvas.outline(b, Theme::faded(hue, 0.6f));
    else if (!there && least >= f.px(8))
        f.canvas.dashed(b, Theme::faded(hue, 0.7f));
    const ImU32 ink = on_chip ? Theme::ink_on(fill) : Theme::mixed(hue, t.ink, 0.45f);
    say_in_tile(f, b, ink, tile_name(e.name, k), trips, on_chip && (!e.by_row() || trips.all() == 0));
}

/// How far K's name is raised above its strip's end, to be above the names of the statistics right of the matrix.
float over_names(const WallFigure& f) { return std::max(0.f, Canvas::height(f.theme().small_text) - f.above); }

/// Where the name of the tensor on the right begins: names left of it must end there.
float name_begins(const WallFigure& f) {
    for (const WallEdge& e : f.wall.edges())
        if (e.side == Side::right) {
            const Box strip = strip_of(f, e);
            return strip.centre().x - std::max(Canvas::width(f.theme().title, e.name), strip.w()) / 2 - f.px(3);
        }
    return f.seen.x1 + 1e6f;
}

void draw_name(const WallFigure& f, const WallEdge& e, const Box& strip) {
    const Theme& t = f.theme();
    const ImU32 hue = t.hue(e.meaning);
    const float line = Canvas::height(t.title) + f.px(2);
    if (e.by_row()) {
        ImFont* font = e.side == Side::between ? t.small_text : t.title;
        const auto beside = std::count_if(f.wall.edges().begin(), f.wall.edges().end(),
                                          [](const WallEdge& other) { return other.side == Side::between; });
        if (e.side == Side::between && beside > 1 && Canvas::width(font, e.name) > f.pitch()) return;
        const float half = std::max(Canvas::width(font, e.name), strip.w()) / 2 + f.px(1);
        float x = strip.centre().x;
        // Neither over K's strip nor over O's name.
        if (e.side == Side::between) x = std::min(std::max(x, f.seen.x1 + f.px(2) + half), name_begins(f) - half);
        f.canvas.text_in(font, {x - half, strip.y0 - line, x + half, strip.y0}, hue, e.name, Align::centre);
    } else {
        const float high = Canvas::height(t.title);
        const float y = e.side == Side::above ? std::min(strip.y0, strip.y1 - high - over_names(f)) : strip.y0;
        f.canvas.text_in(t.title, {strip.x1 + f.px(6), y, strip.x1 + f.px(54), y + high}, hue, e.name + "ᵀ");
    }
}

void draw_edge(WallFigure& f, const WallEdge& e) {
    const Box strip = strip_of(f, e);
    if (f.nth == 0 || !e.by_row()) draw_name(f, e, strip);
    f.screen.places[f.prefix + "edge-" + e.name] = {strip.x0, strip.y0, strip.w(), strip.h()};
    const std::vector<bool> on_chip = held(f.run, f.wall, f.painters, e);
    const ImVec2 mouse = ImGui::GetMousePos();
    const bool pointed_at = hovered(strip.grown(e.side == Side::between ? 0 : f.px(2)));
    // Where tiles are smaller than a dot, one tile is drawn per dot.
    const float side = e.by_row() ? f.tile_h() : f.tile_w();
    const Index step = std::max<Index>(1, static_cast<Index>(std::ceil(f.px(3) / std::max(side, 0.01f))));
    const Box along = e.by_row() ? Box{strip.x0 - f.marks, f.seen.y0, strip.x1 + f.marks, f.seen.y1}
                                 : Box{f.seen.x0, strip.y0 - f.marks, f.seen.x1, strip.y1 + f.marks};
    const auto is_lit = [&](Index k) { return k >= 0 && k < e.tiles.count() && on_chip[static_cast<std::size_t>(k)]; };
    // Tiles on chip are drawn last, over their neighbours.
    const Index all = ceil_div(e.tiles.count(), step);
    for (Index n = 0; n < 2 * all; ++n) {
        const Index k = n % all * step;
        const bool lit = is_lit(k);
        if (lit != (n >= all)) continue;
        Box tile = tile_box(f, e, strip, k);
        if (step > 1) {
            const Box last = tile_box(f, e, strip, std::min(k + step, e.tiles.count()) - 1);
            tile.x1 = std::max(tile.x1, last.x1), tile.y1 = std::max(tile.y1, last.y1);
        }
        if (e.by_row() ? tile.y1 <= f.seen.y0 || tile.y0 >= f.seen.y1 : tile.x1 <= f.seen.x0 || tile.x0 >= f.seen.x1)
            continue;
        f.within(along, [&] {
            const bool alone = !is_lit(k - step) && !is_lit(k + step);
            draw_tile(f, e, lit && alone && !e.by_row() ? with_room_for_name(f, e, tile, k) : tile, k, lit);
            if (e.side != Side::between) draw_trips(f, e, tile, k);
        });
        if (pointed_at && tile.contains(mouse)) tooltip(about_edge_tile(f.run, f.wall, e, k));
    }
}

}  // namespace

void draw_edges(WallFigure& f) {
    for (const WallEdge& e : f.wall.edges())
        if (f.leads || e.by_row()) draw_edge(f, e);
    if (f.of == 1) return;
    const float end = f.seen.x0 - f.beside - f.room(Side::left);
    const Box beside = {f.stack.x0 - f.room_beside, f.seen.y0, end, f.seen.y1};
    f.canvas.text_in(f.theme().small_text, beside, f.theme().dim_ink, head_names(f.run, f.wall.head()), Align::right);
}

namespace {

/// Zooms in until about four tiles are seen across. The spot is in the middle, except near an end of the matrix.
void zoom_in(WallFigure& f, const Box& room) {
    constexpr float tiles = 4, least = 2;
    const Spot spot = *f.shown.view.zoom;
    const float times = std::max(least, static_cast<float>(std::max(f.wall.rows(), f.wall.cols())) / tiles);
    f.per_key *= times, f.per_row *= times;
    if (f.wall.parts().count() > 0) f.tray = tray_height(f.theme(), 2 * f.tile_h());
    const float width = f.matrix.w() * times;
    const float height = static_cast<float>(f.wall.rows()) * f.pitch_down();
    const auto begin = [](float low, float high, double at, float size) {
        const float all = high - low, middle = (low + high) / 2;
        if (size <= all) return std::floor(middle - size / 2);
        return std::floor(std::clamp(middle - static_cast<float>(at) * size, high - size, low));
    };
    const float x = begin(room.x0, room.x1, spot.x, width), y = begin(room.y0, room.y1, spot.y, height);
    f.matrix = {x, y, x + width, y + height};
    f.seen = {std::max(x, room.x0), std::max(y, room.y0), std::min(x + width, room.x1), std::min(y + height, room.y1)};
    f.stack = f.seen;
}

/// The room that a single statistic needs beside its thin strip, so that its name is not over K's strip.
float room_for_name(const WallFigure& f) {
    const auto& edges = f.wall.edges();
    const auto statistic = [](const WallEdge& e) { return e.side == Side::between; };
    if (std::count_if(edges.begin(), edges.end(), statistic) != 1) return 0;
    const std::string& name = std::find_if(edges.begin(), edges.end(), statistic)->name;
    const float width = Canvas::width(f.theme().small_text, name);
    return width / 2 <= f.gap + f.thin / 2 ? 0 : width + f.px(10) - f.gap - f.pitch();
}

}  // namespace

void lay_out(WallFigure& f, const Box& area) {
    const Theme& t = f.theme();
    int between = 0;
    for (const WallEdge& e : f.wall.edges()) between += e.side == Side::between ? 1 : 0;
    const float small = std::min(area.w(), area.h());
    f.gap = std::min(f.px(8), small / 40);
    f.strip = std::clamp(small / 10, f.px(10), f.px(46));
    f.marks = std::clamp(small / 13, f.px(8), f.px(40));
    f.thin = std::min(f.px(22), f.strip / 2);
    find_rooms(f);
    const auto outside = [&](Side side, float least) { return f.room(side) > 0 ? f.room(side) : least; };
    const float label = Canvas::height(t.title) + f.px(4);
    f.statistics = static_cast<float>(between) * f.pitch() + (between > 0 ? f.gap : 0) + room_for_name(f);
    const Problem& p = f.run.recorded();
    const std::string title = longest_title(f.shown.session, std::max(p.seq_q, p.seq_k));
    const float wide = Canvas::width(t.small_text, title) + f.px(6), high = Canvas::height(t.small_text);
    f.names = f.wall.parts().count() > 0 ? high + f.px(3) : 0;
    f.beside = title.empty() ? 0 : wide, f.above = f.names + (title.empty() ? 0 : high + f.px(2));
    Box room;
    const auto place = [&] {
        const float x0 = area.x0 + outside(Side::left, f.px(4)) + f.beside;
        const float right = f.room(Side::right);
        const float x1 = area.x1 - (right > 0 ? right + f.statistics : f.px(4));
        const float above = f.room(Side::above);
        const float y0 =
            area.y0 + f.above + (above > 0 ? std::max(above, over_names(f) + f.gap + Canvas::height(t.title)) : label);
        const float y1 = area.y1 - outside(Side::below, f.px(4));
        const float w = std::max(f.px(8), x1 - x0), h = std::max(f.px(8), y1 - y0);
        const auto keys = static_cast<float>(f.wall.cols() * f.wall.tile_cols());
        const auto rows = static_cast<float>(f.wall.rows() * f.wall.rows_drawn());
        const auto heads = static_cast<float>(f.of), blocks = static_cast<float>(f.wall.rows());
        const float apart = f.of > 1 ? f.px(9) : 0, whole_each = (h - apart * (heads - 1)) / heads;
        f.tray = f.wall.parts().count() > 0 ? tray_height(t, whole_each / blocks) : 0;
        const float trays = blocks * f.tray, each = whole_each - trays, alone = h - trays;
        // One scale, unless a side would be too thin to be seen or, in a hall, names would have no room: there tiles
        // may be drawn somewhat wider or higher than to scale.
        const float scale = std::min(w / keys, alone / rows);
        const float thinnest = std::min({f.px(f.wall.rows() == 1 ? 64.f : 44.f), w, alone});
        const float largest = (t.in_a_hall() ? 1.6f : 1.f) * scale;
        f.per_key = std::max(std::min(w / keys, largest), thinnest / keys);
        f.per_row = std::max(std::min(alone / rows, largest), thinnest / rows);
        // Heads one below the other have the width of one head alone.
        if (f.of > 1) f.per_row = each / rows;
        f.per_key = f.whole_per_key = std::min(f.per_key, f.most_per_key);
        f.per_row = f.whole_per_row = std::min(f.per_row, f.most_per_row);
        const float width = keys * f.per_key, height = rows * f.per_row + trays, all = (height + apart) * heads - apart;
        const float x = std::floor(x0 + (w - width) / 2), y = std::floor(y0 + (h - all) / 2);
        const float top = y + static_cast<float>(f.nth) * (height + apart);
        f.matrix = f.seen = {x, top, x + width, top + height};
        f.stack = {x, y, x + width, y + all};
        f.room_beside = x - area.x0;
        room = {x0, y0, x0 + w, y0 + h};
    };
    place();
    // Where no title fits, no room is kept for titles.
    if (titles_every(high, f.per_row) == 0) f.beside = 0;
    if (titles_every(wide, f.per_key) == 0) f.above = f.names;
    if (!title.empty()) place();
    if (f.shown.view.zoom) zoom_in(f, room);
    f.rows_a_title = f.beside > 0 ? titles_every(high, f.per_row) : 0;
    f.cols_a_title = f.above > f.names ? titles_every(wide, f.per_key) : 0;
}

void draw_titles(const WallFigure& f) {
    const Theme& t = f.theme();
    const Problem& p = f.run.recorded();
    for (Index r = 0; f.rows_a_title > 0 && r < p.seq_q; r += f.rows_a_title) {
        const Box b = {f.seen.x0 - f.beside - f.gap, f.y_of(r), f.seen.x0 - f.gap, f.y_of(r + f.rows_a_title)};
        if (b.y0 < f.seen.y0 || b.y0 >= f.seen.y1) continue;
        f.canvas.text_in(t.small_text, b, t.dim_ink, title_of(f.shown.session, r), Align::right);
    }
    const float bottom = f.seen.y0 - f.gap / 2;
    gui::draw_titles(f.canvas, f.shown.session, {f.seen.x0, bottom - f.above + f.names, f.seen.x1, bottom}, f.x_of(0),
                     f.per_key, f.cols_a_title, p.seq_k);
}

}  // namespace tilescope::gui::wall
