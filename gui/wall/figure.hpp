// The wall: the score matrix with its painters, and the matrices along its edges. What its parts share.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "gui/app.hpp"
#include "gui/draw/canvas.hpp"
#include "show/stage/wall.hpp"

namespace tilescope::gui::wall {

using Side = show::WallEdge::Side;

/// Room for an edge. From the matrix outwards: the gap and nearer edges (`from`), its strip, its trips.
struct EdgeRoom {
    float from = 0, strip = 0, marks = 0;

    float end() const { return from + strip + marks; }
};

/// One run's wall in one frame.
struct WallFigure {
    Shown& shown;
    Derived& derived;
    Screen& screen;
    Input& input;
    Run& run;
    const Wall& wall;
    Canvas canvas;
    std::string prefix;  ///< of the names of places
    Index focus;         ///< the SM in focus, one of this run's
    std::vector<Painter> painters;
    Index nth = 0, of = 1;  ///< the head's number (from 0) among `of` heads that share K and V, below each other
    bool leads = true;      ///< this head's figure draws K and V, for all of these heads
    // Where things are.
    Box matrix = {};                                 ///< all whole tiles: the last ones may reach over the matrix' end
    Box seen = {};                                   ///< the part of `matrix` that is seen: less than all where zoomed
    Box stack = {};                                  ///< `seen` of all heads below each other
    float per_row = 1, per_key = 1;                  ///< pixels of a row of scores, of a key
    float whole_per_row = 1, whole_per_key = 1;      ///< the same without zoom
    float most_per_row = 1e9f, most_per_key = 1e9f;  ///< in a race, the most for which the other wall has room
    float strip = 0, gap = 0, marks = 0, thin = 0;   ///< widths of an edge, the gap beside it, trips, a statistic
    double a_trip = 0;                               ///< pixels of a trip's mark
    std::vector<EdgeRoom> rooms = {};                ///< of the wall's edges
    float room_beside = 0;                           ///< left of the matrix, to the end of the area
    float statistics = 0;                            ///< width of all statistics, with what is beside them
    // Room for titles of rows and columns. Every rows_a_title-th row has a title; 0: none has.
    float beside = 0, above = 0;
    float names = 0;  ///< the part of `above` for names of parts of the keys
    float tray = 0;   ///< height of the tray below a row of tiles, for what its parts hold; 0: no room
    Index rows_a_title = 0, cols_a_title = 0;

    const EdgeRoom& room(const WallEdge& e) const { return rooms[static_cast<std::size_t>(&e - wall.edges().data())]; }
    /// Room for all edges of a side.
    float room(WallEdge::Side side) const {
        float end = 0;
        for (const WallEdge& e : wall.edges())
            if (e.side == side) end = std::max(end, room(e).end());
        return end;
    }
    const Theme& theme() const { return screen.theme; }
    float px(float x) const { return screen.theme.px(x); }
    Index tick() const { return run.tick(); }
    float pitch() const { return thin + px(3); }  ///< from one statistic to the next
    float x_of(Index key) const { return matrix.x0 + static_cast<float>(key) * per_key; }
    float y_of(Index row) const {
        return matrix.y0 + static_cast<float>(row) * per_row + static_cast<float>(row / wall.tile_rows()) * tray;
    }
    /// Where row - 1 ends, above the tray that may be below it.
    float y_end(Index row) const { return y_of(row - 1) + per_row; }
    float tile_w() const { return static_cast<float>(wall.tile_cols()) * per_key; }
    float tile_h() const { return static_cast<float>(wall.rows_drawn()) * per_row; }
    float pitch_down() const { return tile_h() + tray; }  ///< from one row of tiles to the next
    /// Tile (i, j), without the part of a ragged tile beyond the matrix.
    Box tile(Index i, Index j) const {
        const Span rows = wall.row(i), cols = wall.col(j);
        return {x_of(cols.begin), y_of(rows.begin), x_of(cols.end()), y_end(rows.end())};
    }
    /// Calls draw(), clipped to this box while the wall is zoomed.
    template <class F>
    void within(const Box& b, F&& draw) const {
        shown.view.zoom ? canvas.within(b, draw) : draw();
    }
    bool sees(const Box& b) const { return b.x1 > seen.x0 && b.x0 < seen.x1 && b.y1 > seen.y0 && b.y0 < seen.y1; }
    Box box(const Visit& v) const {
        return {x_of(v.keys.begin), y_of(v.queries.begin), x_of(v.keys.end()), y_end(v.queries.end())};
    }
};

/// Height of a tray, which shows below a row of tiles what parts hold: two lines or one, in at most 55% of `room`; 0:
/// no room.
float tray_height(const Theme& t, float room);
/// Lays the wall out in `area`, as large as it can and may be.
void lay_out(WallFigure& f, const Box& area);

void draw_matrix(const WallFigure& f);
void draw_edges(WallFigure& f);
/// Titles of rows and columns, between the matrix and its edges.
void draw_titles(const WallFigure& f);
/// Bands of the matrix where keys are cut into parts, what each part holds, and how that is added up.
void draw_parts(const WallFigure& f);
/// The partial whose tray is at a place of the screen, or nullptr.
const Partial* partial_at(const WallFigure& f, ImVec2 at);
/// While the wall is zoomed, says which part of it is seen.
void draw_seen(const WallFigure& f);
/// The painters (SMs at work), over the matrix.
void draw_painters(const WallFigure& f);
/// What the mouse points at on the matrix, and what a click does.
void point_at(WallFigure& f);

/// The wall's numbers beside each other, in `rows` rows.
void draw_numbers(const WallFigure& f, Box area, std::size_t rows);
float numbers_height(const Theme& t, std::size_t rows);
/// A bar of SM traffic by tensor, above that of another algorithm.
void draw_bytes(const WallFigure& f, Box area);
float bytes_height(const WallFigure& f);
/// Puts an SM that works on `head` in focus, where there is one.
void look_at_head(WallFigure& f, Index head);
/// A square for each head.
void draw_heads(WallFigure& f, Box area);
float heads_height(const Theme& t);

}  // namespace tilescope::gui::wall
