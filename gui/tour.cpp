#include "show/words/tour.hpp"

#include <cmath>
#include <string>

#include "core/text/message.hpp"
#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/panels.hpp"

namespace tilescope::gui {
using text::message;
namespace {

int stop_count() { return static_cast<int>(tour_stops().size()); }

struct Rect {
    ImVec2 from, to;
};

/// Darkens everything but `light`.
void dim_around(ImDrawList* draw, ImVec2 screen, const Rect& light, ImU32 dark) {
    draw->AddRectFilled({0, 0}, {screen.x, light.from.y}, dark);
    draw->AddRectFilled({0, light.to.y}, screen, dark);
    draw->AddRectFilled({0, light.from.y}, {light.from.x, light.to.y}, dark);
    draw->AddRectFilled({light.to.x, light.from.y}, {screen.x, light.to.y}, dark);
}

/// The card's place: beside the panel, on a side that has room, and within the screen.
ImVec2 card_position(const Rect& panel, ImVec2 screen, ImVec2 card, float gap) {
    const float left = panel.from.x, right = screen.x - panel.to.x, above = panel.from.y, below = screen.y - panel.to.y;
    ImVec2 at = {(panel.from.x + panel.to.x - card.x) / 2, (panel.from.y + panel.to.y - card.y) / 2};
    if (right >= card.x + 2 * gap)
        at.x = panel.to.x + gap;
    else if (left >= card.x + 2 * gap)
        at.x = panel.from.x - card.x - gap;
    else if (above >= card.y + 2 * gap)
        at.y = panel.from.y - card.y - gap;
    else if (below >= card.y + 2 * gap)
        at.y = panel.to.y + gap;
    at.x = std::round(std::clamp(at.x, gap, std::max(gap, screen.x - card.x - gap)));
    at.y = std::round(std::clamp(at.y, gap, std::max(gap, screen.y - card.y - gap)));
    return at;
}

bool pressed_key(ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key), false); }

void tour_buttons(Shown& shown, Screen& screen) {
    const int step = shown.view.tour;
    const bool last = step + 1 == stop_count();
    bool next = push_button(message(last ? "tour_card.done" : "tour_card.next"));
    screen.place("tour-next");
    next |= pressed_key(ImGuiKey_Enter);
    ImGui::SameLine();
    ImGui::BeginDisabled(step == 0);
    const bool back = push_button(message("tour_card.back"));
    screen.place("tour-back");
    ImGui::EndDisabled();
    ImGui::SameLine();
    const bool skip = push_button(message("tour_card.skip")) || pressed_key(ImGuiKey_Escape);
    screen.place("tour-skip");
    if (next) shown.view.tour = last ? -1 : step + 1;
    if (back) shown.view.tour = step - 1;
    if (skip) shown.view.tour = -1;
    const std::string where = message("tour_card.where", step + 1, stop_count());
    ImGui::SameLine(ImGui::GetWindowContentRegionMax().x - width_of(where));
    ImGui::AlignTextToFramePadding();
    ImGui::PushStyleColor(ImGuiCol_Text, screen.theme.dim_ink);
    text_line(where);
    ImGui::PopStyleColor();
}

void card(Shown& shown, Screen& screen, const TourStop& stop, ImVec2 at, ImVec2 size) {
    const Theme& t = screen.theme;
    ImGui::SetCursorScreenPos(at);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, t.panel);
    ImGui::PushStyleColor(ImGuiCol_Border, t.highlight);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(18), t.px(14)});
    ImGui::BeginChild("card", size, true, ImGuiWindowFlags_NoScrollbar);
    ImGui::PushFont(t.title);
    text_line(stop.title);
    ImGui::PopFont();
    text_wrapped(stop.text);
    ImGui::Dummy({0, t.px(2)});
    tour_buttons(shown, screen);
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor(2);
}

/// The card's height follows from its text.
ImVec2 card_size(const Theme& t, const TourStop& stop, ImVec2 screen) {
    const float width = std::min(t.px(400), screen.x - t.px(24)), padding = t.px(18);
    const auto lines = Canvas::broken(ImGui::GetFont(), stop.text, width - 2 * padding).size();
    const float text = static_cast<float>(lines) * ImGui::GetFontSize();
    return {width, text + t.title->FontSize + ImGui::GetFrameHeight() + t.px(2 + 2 * 14) +
                       3 * ImGui::GetStyle().ItemSpacing.y + t.px(2)};
}

}  // namespace

void tour(Shown& shown, Screen& screen) {
    if (shown.view.tour < 0) return;
    const NotedAs as("tour");
    shown.view.tour = std::min(shown.view.tour, stop_count() - 1);
    const Theme& t = screen.theme;
    const TourStop stop = tour_stops()[static_cast<std::size_t>(shown.view.tour)];
    const ImVec2 all = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(all);
    ImGui::SetNextWindowFocus();
    ImGui::Begin("tour", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoNav);
    Rect panel{{all.x / 2, all.y / 2}, {all.x / 2, all.y / 2}};
    for (const char* kind : {"panel-", "drawer-"}) {  // the panel, or else the name that opens its drawer
        const auto found = screen.places.find(std::string(kind) + stop.panel);
        if (found == screen.places.end()) continue;
        const ImVec4 r = found->second;
        panel = {{r.x, r.y}, {r.x + r.z, r.y + r.w}};
        break;
    }
    ImDrawList* draw = ImGui::GetWindowDrawList();
    dim_around(draw, all, panel, IM_COL32(0, 0, 0, 150));
    draw->AddRect(panel.from, panel.to, t.highlight, ImGui::GetStyle().ChildRounding, 0, t.px(3));
    const ImVec2 size = card_size(t, stop, all);
    card(shown, screen, stop, card_position(panel, all, size, t.px(16)), size);
    ImGui::End();
}

}  // namespace tilescope::gui
