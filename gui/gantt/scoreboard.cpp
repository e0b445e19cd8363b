#include "gui/gantt/scoreboard.hpp"

#include <algorithm>
#include <numeric>

#include "show/stage/scoreboard.hpp"

namespace tilescope::gui::gantt {
namespace {

constexpr int most_rows = 3;  // the two runs, and at the end their ratio

float row_height(const Theme& t) { return t.text->FontSize + t.px(4); }

/// Where the columns are: the names, and the cells, of equal width.
struct Columns {
    Box area;
    float names;
    Box cell(std::size_t k, std::size_t of) const {
        const float width = (area.w() - names) / static_cast<float>(of), x = area.x0 + names;
        return {x + static_cast<float>(k) * width, area.y0, x + static_cast<float>(k + 1) * width, area.y1};
    }
};

constexpr float beside_cells = 6;

void draw_row(const Canvas& c, ImFont* font, ImU32 ink, const Scoreboard::Row& row, const Columns& at,
              const std::vector<std::size_t>& shown) {
    c.text_in(font, {at.area.x0, at.area.y0, at.area.x0 + at.names - c.px(10), at.area.y1}, ink, row.name);
    for (std::size_t k = 0; k < shown.size(); ++k) {
        Box cell = at.cell(k, shown.size());
        cell.x0 += c.px(beside_cells), cell.x1 -= c.px(beside_cells);
        c.text_in(font, cell, ink, row.cells[shown[k]], Align::right);
    }
}

/// The columns that have room. The share of time is left out first, because a row's bar shows it; then modelled DRAM.
std::vector<std::size_t> shown_columns(const Theme& t, const Scoreboard& board, float width) {
    constexpr std::size_t share = 0, dram = 3;
    std::vector<std::size_t> shown(board.titles.cells.size());
    std::iota(shown.begin(), shown.end(), 0);
    const auto fits = [&](std::size_t column) {
        const float room = width / static_cast<float>(shown.size()) - 2 * t.px(beside_cells);
        return std::all_of(board.rows.begin(), board.rows.end(), [&](const Scoreboard::Row& row) {
            return Canvas::width(t.text, row.cells[column].back()) <= room;
        });
    };
    for (const std::size_t spared : {share, dram})
        if (!std::all_of(shown.begin(), shown.end(), fits)) std::erase(shown, spared);
    return shown;
}

}  // namespace

float scoreboard_height(const Theme& t) { return 3 * t.small_text->FontSize + most_rows * row_height(t) + t.px(14); }

void draw_scoreboard(const Shown& shown, const Screen& screen, Box area) {
    const Theme& t = screen.theme;
    const Canvas c(t);
    const Scoreboard board = scoreboard(shown.session, !shown.view.hide_ahead);
    const Box remark = area.cut_top(2 * t.small_text->FontSize + c.px(4));
    c.paragraph(t.small_text, remark.min(), t.dim_ink, board.remark, remark.w(), 2);
    // The names are as wide before the end as at the end, where the row of ratios is added.
    float names = Canvas::width(t.text, " : ") + c.px(18);
    for (std::size_t k = 0; k < 2; ++k) names += Canvas::width(t.text, board.rows[k].name.back());
    names = std::min(names, area.w() / 4);
    const std::vector<std::size_t> columns = shown_columns(t, board, area.w() - names);
    draw_row(c, t.small_text, t.dim_ink, board.titles, {area.cut_top(t.small_text->FontSize + c.px(2)), names},
             columns);
    for (const Scoreboard::Row& row : board.rows) {
        const Box line = area.cut_top(row_height(t));
        c.fill({line.x0, line.y0, line.x0 + line.w() * static_cast<float>(row.done), line.y1 - c.px(1)},
               Theme::mixed(t.panel, t.ink, 0.1f));
        draw_row(c, t.text, row.won ? t.good : t.ink, row, {line, names}, columns);
    }
}

}  // namespace tilescope::gui::gantt
