#include <algorithm>

#include "gui/detail/counter_tables.hpp"
#include "gui/detail/strip.hpp"
#include "gui/detail/tabs.hpp"
#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "gui/draw/whole.hpp"
#include "gui/panels.hpp"
#include "show/words/code_text.hpp"
#include "show/words/time_text.hpp"

namespace tilescope::gui::detail {
namespace {

/// One strip of the traffic; a click seeks to its tick. In a race, the second strip takes no clicks.
void traffic_strip(Shown& shown, Screen& screen, const Strip& strip, float height, const char* place) {
    const ImVec2 at = ImGui::GetCursorScreenPos(), size = {ImGui::GetContentRegionAvail().x, height};
    hit_area(place, size);
    screen.place(place);
    strip.draw(at, size);
    if (!ImGui::IsItemHovered() && !ImGui::IsItemActive()) return;
    const Index tick = strip.tick_at(at, size, ImGui::GetMousePos().x);
    tooltip(about_tick(strip.run, tick));
    if (!ImGui::IsItemActive() || &strip.run != shown.session.run()) return;
    shown.playback.pause();
    shown.playback.seek(shown.session.position_of(tick));
}

void strips(Shown& shown, Screen& screen, const Run& run, float height) {
    const Theme& t = screen.theme;
    const Run* rival = shown.session.rival();
    const Index ticks = std::max(run.ticks(), rival ? rival->ticks() : 0);
    const auto columns = whole(ImGui::GetContentRegionAvail().x, 1, 100000);
    const double most = most_traffic(run, ticks, columns),
                 most_rival = rival ? most_traffic(*rival, ticks, columns) : 0;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, right = at.x + width, line = t.small_text->FontSize;
    const std::string last = tick_text(run, run.tick());
    const Canvas c(t);
    c.text_in(t.small_text, {at.x, at.y, right - Canvas::width(t.small_text, last) - t.px(8), at.y + line}, t.dim_ink,
              traffic_title(most, rival ? std::optional(most_rival) : std::nullopt));
    c.text_in(t.small_text, {at.x, at.y, right, at.y + line}, t.dim_ink, last, Align::right);
    ImGui::Dummy({width, line + t.px(1)});
    traffic_strip(shown, screen, {t, run, ticks, most}, height, "strip");
    if (rival) traffic_strip(shown, screen, {t, *rival, ticks, most_rival}, height, "strip-rival");
}

}  // namespace

void counters_panel(Shown& shown, Screen& screen) {
    const Run* run = shown.session.run();
    const Theme& t = screen.theme;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(6), t.px(2)});
    detail_tabs(shown, screen, run ? message("detail.of", run->algorithm().name) : "");
    if (!run) {
        say_instead(screen, what_happens_now(shown.session, nullptr));
        ImGui::PopStyleVar();
        return;
    }
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {t.px(4), t.px(1)});
    const float available = ImGui::GetContentRegionAvail().y,
                strip = std::clamp(available * 0.085f, t.px(24), t.px(60));
    const float bottom = t.small_text->FontSize + t.px(5) + (shown.session.rival() ? 2 : 1) * (strip + t.px(2));
    ImGui::BeginChild("tables", {0, std::max(t.px(20), available - bottom)});
    counters_table(shown, screen, *run);
    verdict_text(shown, screen, *run);
    tensors_table(screen, *run);
    ImGui::EndChild();
    strips(shown, screen, *run, strip);
    ImGui::PopStyleVar(2);
}

}  // namespace tilescope::gui::detail
