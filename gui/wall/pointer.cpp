// The mouse on the matrix: a tile leads to the step in which it is painted, a painter's tag to its SM.
#include "gui/draw/items.hpp"
#include "gui/draw/whole.hpp"
#include "gui/wall/figure.hpp"
#include "show/stage/parts_text.hpp"
#include "show/stage/wall_text.hpp"

namespace tilescope::gui::wall {
namespace {

/// The painter whose tag is there, or nullptr.
const Painter* tag_at(const WallFigure& f, ImVec2 mouse) {
    for (const Painter& p : f.painters) {
        const Box b = f.box(*p.visit);
        const ImVec2 m = b.centre();
        const float half = std::min({f.px(8), b.w() / 4, b.h() / 4});
        if (!p.done && half > f.px(2) && Box{m.x - half, m.y - half, m.x + half, m.y + half}.contains(mouse)) return &p;
    }
    return nullptr;
}

/// The next coat that a tile gets; if there is none, its first one.
const Visit* coat_to_see(const WallFigure& f, Index i, Index j) {
    const Visit* first = nullptr;
    for (const std::size_t v : f.wall.visits(i, j)) {
        const Visit& visit = f.wall.visits()[v];
        if (visit.painted > f.tick()) return &visit;
        if (!first) first = &visit;
    }
    return first;
}

void go_to(WallFigure& f, const Visit& visit) {
    if (const Placement* p = f.run.schedule().placement_of(visit.launch, visit.block)) f.shown.view.sm = p->sm;
    f.shown.playback.pause();
    if (&f.run == f.shown.session.run()) f.shown.playback.seek(f.shown.session.position_of(visit.painted));
}

}  // namespace

void point_at(WallFigure& f) {
    const Box& m = f.matrix;
    const std::string place = f.prefix + "wall";
    ImGui::SetCursorScreenPos(f.seen.min());
    const bool released = hit_area(place, {f.seen.w(), f.seen.h()});
    f.screen.place(place);
    if (f.shown.view.zoom && (ImGui::IsItemActive() || ImGui::IsItemHovered()))
        f.input.pan(f.shown.view, f.theme(), {m.w(), m.h()}, {f.seen.w(), f.seen.h()}, ImGui::IsItemActive());
    if (!ImGui::IsItemHovered()) return;
    const bool pressed = released && !f.input.grabbed;  // a drag is no click
    const ImVec2 mouse = ImGui::GetMousePos();
    if (f.input.zooms && !f.leads) look_at_head(f, f.wall.head());
    if (f.input.zooms) f.input.zoom_in(f.shown.view, (mouse.x - m.x0) / m.w(), (mouse.y - m.y0) / m.h());
    if (const Painter* p = tag_at(f, mouse)) {
        tooltip(about_painter(*p));
        if (pressed) f.shown.view.sm = p->sm;
        return;
    }
    if (const Partial* p = partial_at(f, mouse)) {
        tooltip(about_partial(f.run, f.wall, *p));
        const Placement* at = f.run.schedule().placement_of(f.wall.parts().launch(), p->block);
        if (pressed && at) f.shown.view.sm = at->sm;
        return;
    }
    const Index i = whole((mouse.y - m.y0) / f.pitch_down(), 0, f.wall.rows() - 1);
    const Index j = whole((mouse.x - m.x0) / f.tile_w(), 0, f.wall.cols() - 1);
    tooltip(about_wall_tile(f.run, f.wall, i, j));
    if (const Visit* visit = pressed ? coat_to_see(f, i, j) : nullptr) go_to(f, *visit);
}

}  // namespace tilescope::gui::wall
