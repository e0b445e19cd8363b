#include "gui/draw/words.hpp"
#include "gui/panels.hpp"
#include "gui/wall/figure.hpp"
#include "show/stage/wall_headline.hpp"
#include "show/stage/wall_text.hpp"

namespace tilescope::gui::wall {
namespace {

WallFigure figure_of(Shown& shown, Derived& derived, Screen& screen, Input& input, Run& run, Index head, Index focus) {
    const Wall& wall = derived.walls.of(run, head, shown.session.version());
    return {.shown = shown,
            .derived = derived,
            .screen = screen,
            .input = input,
            .run = run,
            .wall = wall,
            .canvas = Canvas(screen.theme),
            .prefix = &run == shown.session.rival() ? "rival-" : "",
            .focus = focus,
            .painters = painters(run, wall)};
}

Index focus_of(const Shown& shown, const Run& run) {
    return std::min(shown.view.sm, std::max<Index>(0, run.schedule().sms_used() - 1));
}

void draw_head(WallFigure& f) {
    draw_matrix(f);
    draw_edges(f);
    draw_titles(f);
    draw_painters(f);
    draw_parts(f);
    draw_seen(f);
    point_at(f);
}

/// Lays out the head of the SM in focus and, where tiles can still be told apart, the heads that share its K and V.
void lay_out_heads(WallFigure& f, const Box& area) {
    const std::vector<Index> heads = heads_sharing(f.run, f.wall.head());
    const auto all = static_cast<Index>(heads.size());
    if (all > 1 && !f.shown.view.zoom) f.of = all, f.nth = f.wall.head() - heads[0];
    lay_out(f, area);
    if (f.of > 1 && f.tile_h() < f.px(6)) f.of = 1, f.nth = 0, lay_out(f, area);
}

void draw_wall(WallFigure& f, const Box& area) {
    lay_out_heads(f, area);
    const std::vector<Index> heads = heads_sharing(f.run, f.wall.head());
    for (const Index head : f.of > 1 ? heads : std::vector<Index>()) {
        if (head == f.wall.head()) continue;
        WallFigure other = figure_of(f.shown, f.derived, f.screen, f.input, f.run, head, f.focus);
        other.prefix += "of-head-" + std::to_string(head + 1) + "-";
        other.nth = head - heads[0], other.of = f.of, other.leads = false;
        other.most_per_row = f.most_per_row, other.most_per_key = f.most_per_key;
        lay_out(other, area);
        draw_head(other);
    }
    draw_head(f);
}

bool has_heads(const WallFigure& f) { return f.run.experiment().problem.batch_heads() > 1; }

/// The rooms for the texts above and below the wall, as far as there is any; an empty box: no room.
struct Rooms {
    bool words = false;
    Box numbers = {}, heads = {}, note = {}, bytes = {};
    Box wall;  ///< what is left

    Rooms(const WallFigure& f, const Box& area) : wall(area) {
        const Theme& t = f.theme();
        if (area.h() > f.px(260)) words = true, wall.cut_top(words_height(t, area));
        if (wall.h() > f.px(220)) numbers = wall.cut_top(numbers_height(t, 1)), wall.cut_top(f.px(4));
        if (has_heads(f) && wall.h() > f.px(160)) heads = wall.cut_top(heads_height(t));
        if (!f.run.shortened().empty() && wall.h() > f.px(160))
            note = cut_bottom(Canvas::height(t.small_text) + f.px(2));
        if (wall.h() > f.px(180)) bytes = cut_bottom(bytes_height(f)), wall.y1 -= f.px(4);
    }

  private:
    Box cut_bottom(float h) {
        wall.y1 -= h;
        return {wall.x0, wall.y1, wall.x1, wall.y1 + h};
    }
};

void draw_above_and_below(WallFigure& f, Box area, const Sentence& finding) {
    const Rooms rooms(f, area);
    if (rooms.words) draw_words(f.canvas, area, finding, wall_reason(f.run, f.wall));
    if (rooms.numbers.h() > 0) draw_numbers(f, rooms.numbers, 1);
    if (rooms.heads.h() > 0) draw_heads(f, rooms.heads);
    if (rooms.note.h() > 0) f.canvas.text_in(f.theme().small_text, rooms.note, f.theme().dim_ink, f.run.shortened());
    if (rooms.bytes.h() > 0) draw_bytes(f, rooms.bytes);
}

/// Draws the texts in a column beside the wall.
void draw_beside(WallFigure& f, Box side) {
    const Theme& t = f.theme();
    draw_numbers(f, side.cut_top(numbers_height(t, 2)), 2), side.cut_top(f.px(4));
    if (has_heads(f)) draw_heads(f, side.cut_top(heads_height(t))), side.cut_top(f.px(8));
    draw_bytes(f, side.cut_top(bytes_height(f)));
    const auto say = [&](const std::string& text) {
        const int lines = draw_sentences(f.canvas, t.small_text, side, t.dim_ink, text);
        side.cut_top(static_cast<float>(lines) * t.small_text->FontSize + f.px(8));
    };
    say(wall_reason(f.run, f.wall)), say(f.run.shortened());
}

Box right_of(const Box& area) { return {area.x0 + 0.6f * area.w(), area.y0, area.x1, area.y1}; }
Box left_of(const WallFigure& f, const Box& area) { return {area.x0, area.y0, right_of(area).x0 - f.px(16), area.y1}; }

/// In a hall, where letters take much of the height: whether tiles are larger with the texts beside the wall than
/// with the texts above and below it.
bool is_better_beside(WallFigure& f, const Box& area) {
    const Theme& t = f.theme();
    if (!t.in_a_hall() || area.h() <= f.px(260)) return false;
    const auto tile = [&](const Box& wall) {
        lay_out(f, wall);
        return f.tile_w() * f.tile_h();
    };
    Box full = area;
    full.cut_top(finding_height(t, area));
    const float taken = 2 * t.text->FontSize + numbers_height(t, 1) + bytes_height(f) + f.px(14) +
                        (has_heads(f) ? heads_height(t) : 0) +
                        (f.run.shortened().empty() ? 0 : Canvas::height(t.small_text) + f.px(2));
    return tile(left_of(f, full)) >= tile({full.x0, full.y0, full.x1, full.y1 - taken});
}

/// The room that the texts leave for the wall.
Box room_for_wall(WallFigure& f, Box area) {
    if (!is_better_beside(f, area)) return Rooms(f, area).wall;
    area.cut_top(finding_height(f.theme(), area));
    return left_of(f, area);
}

/// In a race both walls have areas of one size and one scale, that of the wall with less room.
void keep_to_scale(WallFigure& f, const Box& area) {
    Run* other = &f.run == f.shown.session.rival() ? f.shown.session.run() : f.shown.session.rival();
    if (!other || !Wall::has_room_for(*other)) return;
    const Index focus = focus_of(f.shown, *other);
    WallFigure o = figure_of(f.shown, f.derived, f.screen, f.input, *other, head_of_sm(*other, focus), focus);
    lay_out_heads(o, room_for_wall(o, area));
    f.most_per_row = o.whole_per_row, f.most_per_key = o.whole_per_key;
}

}  // namespace

void panel(Shown& shown, Derived& derived, Screen& screen, Input& input, Run& run, const char* title) {
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    if (room.x < 20 || room.y < 20) return;
    if (!Wall::has_room_for(run)) {
        Canvas(screen.theme).paragraph(screen.theme.text, at, screen.theme.ink, no_wall_text(run), room.x, 6);
        return;
    }
    const Index focus = focus_of(shown, run);
    WallFigure f = figure_of(shown, derived, screen, input, run, head_of_sm(run, focus), focus);
    Box area = {at.x, at.y, at.x + room.x, at.y + room.y};
    const Theme& t = screen.theme;
    if (*title) f.canvas.text_in(t.title, area.cut_top(Canvas::height(t.title) + f.px(4)), t.dim_ink, title);
    const bool beside = is_better_beside(f, area);
    const Box wall = room_for_wall(f, area);
    keep_to_scale(f, area);
    const Sentence finding = wall_headline(f.run, f.wall, f.painters, f.focus);
    if (beside) {
        draw_finding(f.canvas, area.cut_top(finding_height(t, area)), finding);
        draw_beside(f, right_of(area));
    } else {
        draw_above_and_below(f, area, finding);
    }
    draw_wall(f, wall);
}

}  // namespace tilescope::gui::wall
