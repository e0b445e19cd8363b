#include <algorithm>

#include "gui/detail/counter_tables.hpp"
#include "gui/detail/strip.hpp"
#include "gui/detail/tabs.hpp"
#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/whole.hpp"
#include "gui/panels.hpp"
#include "show/words/code_text.hpp"
#include "show/words/time_text.hpp"

namespace tilescope::gui::detail {
namespace {

/// One strip of the traffic; a click seeks to its tick. In a race, the second strip takes no clicks.
void traffic_strip(App& app, const Strip& strip, float height, const char* place) {
    const ImVec2 at = ImGui::GetCursorScreenPos(), size = {ImGui::GetContentRegionAvail().x, height};
    hit_area(place, size);
    app.place(place);
    strip.draw(at, size);
    if (!ImGui::IsItemHovered() && !ImGui::IsItemActive()) return;
    const Index tick = strip.tick_at(at, size, ImGui::GetMousePos().x);
    tooltip(about_tick(strip.run, tick));
    if (!ImGui::IsItemActive() || &strip.run != app.session.run()) return;
    app.playback.pause();
    app.playback.seek(app.session.position_of(tick));
}

void strips(App& app, const Run& run, float height) {
    const Theme& t = app.theme;
    const Run* rival = app.session.rival();
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
    traffic_strip(app, {t, run, ticks, most}, height, "strip");
    if (rival) traffic_strip(app, {t, *rival, ticks, most_rival}, height, "strip-rival");
}

}  // namespace

void counters_panel(App& app) {
    const Run* run = app.session.run();
    const Theme& t = app.theme;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(6), t.px(2)});
    detail_tabs(app, run ? "of " + std::string(run->algorithm().name) : "");
    if (!run) {
        say_instead(app, what_happens_now(app.session, nullptr));
        ImGui::PopStyleVar();
        return;
    }
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {t.px(4), t.px(1)});
    const float available = ImGui::GetContentRegionAvail().y,
                strip = std::clamp(available * 0.085f, t.px(24), t.px(60));
    const float bottom = t.small_text->FontSize + t.px(5) + (app.session.rival() ? 2 : 1) * (strip + t.px(2));
    ImGui::BeginChild("tables", {0, std::max(t.px(20), available - bottom)});
    counters_table(app, *run);
    verdict_text(app, *run);
    tensors_table(app, *run);
    ImGui::EndChild();
    strips(app, *run, strip);
    ImGui::PopStyleVar(2);
}

}  // namespace tilescope::gui::detail
