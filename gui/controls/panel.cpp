#include "gui/controls/files.hpp"
#include "gui/controls/flags.hpp"
#include "gui/controls/parts.hpp"
#include "gui/panels.hpp"
#include "show/state/setups.hpp"

namespace tilescope::gui::controls {
using namespace lab;
namespace {

/// The next item beside the last one, if it is no wider than what is left of the row.
void beside(const char* text) {
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const float needed = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x + width_of(text);
    if (ImGui::GetItemRectMax().x + ImGui::GetStyle().ItemSpacing.x + needed <= right) ImGui::SameLine();
}

void pace_controls(Shown& shown, Screen& screen) {
    struct Choice {
        Pace pace;
        const char *place, *text, *what;
    };
    const Choice choices[] = {
        {Pace::step, "pace-step", "operation",
         "One operation takes as long to play as another; in a race both have done as many of them."},
        {Pace::bytes, "pace-bytes", "SM bytes",
         "Both have moved the same SM traffic: bytes that cross an SM's boundary, the papers' HBM accesses. The L2 "
         "catches part of it."},
        {Pace::time, "pace-time", "time",
         "Playing goes on at a constant rate of modelled time (not measured); in a race both have taken the same."}};
    Setup s = shown.session.setup();
    ImGui::PushFont(screen.theme.small_text);
    for (const Choice& c : choices) {
        if (c.pace != Pace::step) beside(c.text);
        ImGui::BeginDisabled(c.pace == Pace::bytes && s.rival.empty());
        ImGui::PushStyleColor(ImGuiCol_Border, rim(screen.theme));
        if (choice(c.text, s.pace == c.pace)) s.pace = c.pace;
        ImGui::PopStyleColor();
        screen.place(c.place);
        tip(screen, c.what);
        ImGui::EndDisabled();
    }
    ImGui::PopFont();
    shown.session.ask(s);
}

void race_controls(Shown& shown, Screen& screen) {
    heading(screen, "Race against");
    Setup s = shown.session.setup();
    ImGui::SetNextItemWidth(-FLT_MIN);
    combo(screen, "race", s.rival.empty() ? "none" : s.rival.c_str(),
          "A second algorithm on the same problem and GPU, side by side.", [&] {
              if (entry(screen, "race-none", "none", s.rival.empty(), "One algorithm alone")) s.rival.clear();
              for (const Algorithm* a : rivals_of(shown.session.algorithm()))
                  if (entry(screen, std::string("race-") + a->name, a->name, s.rival == a->name, idea_of(*a)))
                      s.rival = a->name;
          });
    shown.session.ask(s);
    pace_controls(shown, screen);
    if (!s.rival.empty() && shown.view.stage == Stage::time)
        checkbox(screen, "hide-ahead", "hide what is ahead", shown.view.hide_ahead,
                 "Thread blocks are drawn as they come, and where a run ends when it does: so that a race is one.");
}

void view_controls(Shown& shown, Screen& screen, Files& files, Host& host) {
    ImGui::Separator();
    checkbox(screen, "light", "light", shown.view.light, "Light theme: for bright rooms and for print.");
    ImGui::PushFont(screen.theme.small_text);
    beside("projector");
    ImGui::PopFont();
    checkbox(screen, "projector", "projector", shown.view.projector, "Larger type: to be read from the last row.");
    if (button(screen, "tour", "Tour", 0, host.page ? 3 : 4, "A minute's tour of the window.")) shown.view.tour = 0;
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
