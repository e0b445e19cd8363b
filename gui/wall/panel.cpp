#include "gui/draw/words.hpp"
#include "gui/panels.hpp"
#include "gui/wall/figure.hpp"
#include "show/wall_text.hpp"

namespace tilescope::gui::wall {
namespace {

WallFigure figure_of(App& app, Run& run, Index head, Index focus) {
    const Wall& wall = app.walls.of(run, head, app.session.version());
    return {.app = app,
            .run = run,
            .wall = wall,
            .canvas = Canvas(app.theme),
            .prefix = &run == app.session.rival() ? "rival-" : "",
            .focus = focus,
            .painters = painters(run, wall)};
}

void draw_head(WallFigure& f) {
    draw_matrix(f);
    draw_edges(f);
    draw_titles(f);
    draw_painters(f);
    point_at(f);
}

/// The head of the SM in focus; with those that share K and V with it, where their tiles can still be told apart.
void draw_wall(WallFigure& f, const Box& area) {
    const std::vector<Index> heads = heads_sharing(f.run, f.wall.head());
    const auto all = static_cast<Index>(heads.size());
    if (all > 1 && !f.app.view.zoom) f.of = all, f.nth = f.wall.head() - heads[0];
    lay_out(f, area);
    if (f.of > 1 && f.tile_h() < f.px(6)) f.of = 1, f.nth = 0, lay_out(f, area);
    for (const Index head : f.of > 1 ? heads : std::vector<Index>()) {
        if (head == f.wall.head()) continue;
        WallFigure other = figure_of(f.app, f.run, head, f.focus);
        other.prefix += "of-head-" + std::to_string(head + 1) + "-";
        other.nth = head - heads[0], other.of = f.of, other.leads = false;
        lay_out(other, area);
        draw_head(other);
    }
    draw_head(f);
}

}  // namespace

void panel(App& app, Run& run, const char* title) {
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    if (room.x < 20 || room.y < 20) return;
    if (!Wall::has_room_for(run)) {
        Canvas(app.theme).paragraph(app.theme.text, at, app.theme.ink, no_wall_text(run), room.x, 6);
        return;
    }
    const Index focus = std::min(app.view.sm, std::max<Index>(0, run.schedule().sms_used() - 1));
    WallFigure f = figure_of(app, run, head_of_sm(run, focus), focus);
    Box area = {at.x, at.y, at.x + room.x, at.y + room.y};
    const Theme& t = app.theme;
    if (*title) f.canvas.text_in(t.title, area.cut_top(Canvas::height(t.title) + f.px(4)), t.dim_ink, title);
    if (area.h() > f.px(260))
        draw_words(f.canvas, area, wall_headline(f.run, f.wall, f.painters, f.focus), wall_reason(f.run, f.wall));
    // In a hall's wide window what is said of the wall has the side of it, and the wall all of the height.
    if (t.projector && area.w() > 1.4f * area.h()) {
        Box side = {area.x0 + 0.6f * area.w(), area.y0, area.x1, area.y1};
        area.x1 = side.x0 - f.px(16);
        draw_numbers(f, side.cut_top(numbers_height(t))), side.cut_top(f.px(4));
        if (run.experiment().problem.batch_heads() > 1)
            draw_heads(f, side.cut_top(heads_height(t))), side.cut_top(f.px(8));
        draw_bytes(f, side.cut_top(bytes_height(t)));
        f.canvas.paragraph(t.small_text, side.min(), t.dim_ink, run.shortened(), side.w(),
                           static_cast<int>(side.h() / Canvas::height(t.small_text)));
        return draw_wall(f, area);
    }
    if (area.h() > f.px(220)) draw_numbers(f, area.cut_top(numbers_height(t))), area.cut_top(f.px(4));
    if (run.experiment().problem.batch_heads() > 1 && area.h() > f.px(160))
        draw_heads(f, area.cut_top(heads_height(t)));
    if (!run.shortened().empty() && area.h() > f.px(160)) {
        const Box note = {area.x0, area.y1 - Canvas::height(t.small_text) - f.px(2), area.x1, area.y1};
        f.canvas.text_in(t.small_text, note, t.dim_ink, run.shortened());
        area.y1 = note.y0;
    }
    if (area.h() > f.px(180)) {
        const Box bytes = {area.x0, area.y1 - bytes_height(t), area.x1, area.y1};
        area.y1 = bytes.y0 - f.px(4);
        draw_bytes(f, bytes);
    }
    draw_wall(f, area);
}

}  // namespace tilescope::gui::wall
