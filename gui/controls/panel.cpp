#include "algorithms/contract/pseudo_code.hpp"
#include "gui/controls/files.hpp"
#include "gui/controls/flags.hpp"
#include "gui/controls/parts.hpp"
#include "gui/draw/message.hpp"
#include "gui/panels.hpp"
#include "show/state/setups.hpp"

namespace tilescope::gui::controls {
using namespace lab;
namespace {

/// Puts a box with this text beside the last item, if the rest of the row has room for it.
void beside(const std::string& text) {
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const float needed = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x + width_of(text);
    if (ImGui::GetItemRectMax().x + ImGui::GetStyle().ItemSpacing.x + needed <= right) ImGui::SameLine();
}

void pace_controls(Shown& shown, Screen& screen) {
    struct Choice {
        Pace pace;
        const char *place, *text, *what;
    };
    const Choice choices[] = {{Pace::step, "pace-step", "controls.pace_step", "controls.about_pace_step"},
                              {Pace::bytes, "pace-bytes", "controls.pace_bytes", "controls.about_pace_bytes"},
                              {Pace::time, "pace-time", "controls.pace_time", "controls.about_pace_time"}};
    Setup s = shown.session.setup();
    ImGui::PushFont(screen.theme.small_text);
    for (const Choice& c : choices) {
        const std::string label = message(c.text);
        if (c.pace != Pace::step) beside(label);
        ImGui::BeginDisabled(c.pace == Pace::bytes && s.rival.empty());
        ImGui::PushStyleColor(ImGuiCol_Border, rim(screen.theme));
        if (choice(label, s.pace == c.pace)) s.pace = c.pace;
        ImGui::PopStyleColor();
        screen.place(c.place);
        tip(screen, message(c.what));
        ImGui::EndDisabled();
    }
    ImGui::PopFont();
    shown.session.ask(s);
}

void race_controls(Shown& shown, Screen& screen) {
    heading(screen, message("controls.race"));
    Setup s = shown.session.setup();
    ImGui::SetNextItemWidth(-FLT_MIN);
    combo(screen, "race", s.rival.empty() ? message("controls.no_rival") : s.rival, message("controls.about_race"),
          [&] {
              if (entry(screen, "race-none", message("controls.no_rival"), s.rival.empty(),
                        message("controls.about_no_rival")))
                  s.rival.clear();
              for (const Algorithm* a : rivals_of(shown.session.algorithm()))
                  if (entry(screen, std::string("race-") + a->name, a->name, s.rival == a->name, idea_of(*a)))
                      s.rival = a->name;
          });
    shown.session.ask(s);
    pace_controls(shown, screen);
    if (!s.rival.empty() && shown.view.stage == Stage::time)
        checkbox(screen, "hide-ahead", message("controls.hide_ahead"), shown.view.hide_ahead,
                 message("controls.about_hide_ahead"));
}

void view_controls(Shown& shown, Screen& screen, Files& files, Host& host) {
    ImGui::Separator();
    checkbox(screen, "light", message("controls.light"), shown.view.light, message("controls.about_light"));
    ImGui::PushFont(screen.theme.small_text);
    beside(message("controls.projector"));
    ImGui::PopFont();
    checkbox(screen, "projector", message("controls.projector"), shown.view.projector,
             message("controls.about_projector"));
    if (button(screen, "tour", message("controls.tour"), 0, host.page ? 3 : 4, message("controls.about_tour")))
        shown.view.tour = 0;
    file_controls(shown, screen, files, host);
}

}  // namespace

void panel(Shown& shown, Screen& screen, Files& files, Host& host) {
    const Theme& t = screen.theme;
    const std::uint64_t before = shown.session.version();
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(6), t.px(2)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(6), t.px(4)});
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, t.px(1));
    // The view's controls and the files stay where they are. A scroll bar that comes and goes would move sliders under
    // the mouse that holds them.
    const float all = ImGui::GetContentRegionAvail().y,
                below = (host.page ? 3.3f : 2.3f) * ImGui::GetFrameHeightWithSpacing();
    ImGui::BeginChild("settings", {0, std::max(all - below, all / 2)}, false, ImGuiWindowFlags_AlwaysVerticalScrollbar);
    algorithm_controls(shown, screen);
    problem_controls(shown, screen);
    tile_controls(shown, screen);
    gpu_controls(shown, screen);
    race_controls(shown, screen);
    data_controls(shown, screen);
    ImGui::EndChild();
    view_controls(shown, screen, files, host);
    ImGui::PopStyleVar(3);
    if (shown.session.version() != before) follow(shown);
}

}  // namespace tilescope::gui::controls
