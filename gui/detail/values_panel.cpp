#include <algorithm>

#include "gui/detail/error_plot.hpp"
#include "gui/detail/tabs.hpp"
#include "gui/detail/tile_pictures.hpp"
#include "gui/draw/message.hpp"
#include "gui/panels.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::gui::detail {
namespace {

/// Says why the recording has no values, and lists the tiles, which it knows all the same.
void without_values(const Screen& screen, const TilePainter& painter, const SmState& sm) {
    say_instead(screen, why_no_values(painter.run));
    ImGui::Spacing();
    tile_list(painter, sm);
    if (sm.tiles.empty()) say_instead(screen, message("detail.no_tile"));
}

void with_values(const Shown& shown, const Screen& screen, const TilePainter& painter, const SmState& sm) {
    const Theme& t = screen.theme;
    const ImVec2 at = ImGui::GetCursorScreenPos(), avail = ImGui::GetContentRegionAvail();
    // A window too low for all of it scrolls.
    const float height = std::max(avail.y, t.px(222)) - t.px(1), width = avail.x;
    const float error = std::clamp(height * 0.26f, t.px(70), t.px(150)), tiles = height - error - t.px(10);
    if (sm.block) {
        const Gallery gallery(painter, sm, {width - t.px(4), tiles * 0.38f});
        const float top = tiles - gallery.height();
        operation_view(painter, sm, at, {width, top - t.px(6)});
        gallery.draw(painter, sm, {at.x + t.px(2), at.y + top});
    } else {
        say_instead(screen, why_no_block(painter.run));
    }
    error_plot(shown, screen, painter.run, sm, {at.x, at.y + tiles + t.px(10)}, {width, error});
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({width, height});
}

}  // namespace

void values_panel(Shown& shown, Screen& screen) {
    const Run* run = shown.session.run();
    const SmState* sm = shown.focus();
    detail_tabs(shown, screen, sm ? sm_and_block(*sm) : "");
    if (!sm) {
        say_instead(screen, message("detail.nothing"));
        return;
    }
    const Palette palette(screen.theme);
    const TilePainter painter{screen.theme, palette, *run};
    ImGui::BeginChild("values");
    run->has_values() ? with_values(shown, screen, painter, *sm) : without_values(screen, painter, *sm);
    ImGui::EndChild();
}

}  // namespace tilescope::gui::detail
