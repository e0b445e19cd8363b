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

void pace_controls(App& app) {
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
    Setup s = app.session.setup();
    ImGui::PushFont(app.theme.small_text);
    for (const Choice& c : choices) {
        if (c.pace != Pace::step) beside(c.text);
        ImGui::BeginDisabled(c.pace == Pace::bytes && s.rival.empty());
        ImGui::PushStyleColor(ImGuiCol_Border, rim(app.theme));
        if (choice(c.text, s.pace == c.pace)) s.pace = c.pace;
        ImGui::PopStyleColor();
        app.place(c.place);
        tip(app, c.what);
        ImGui::EndDisabled();
    }
    ImGui::PopFont();
    app.session.ask(s);
}

void race_controls(App& app) {
    heading(app, "Race against");
    Setup s = app.session.setup();
    ImGui::SetNextItemWidth(-FLT_MIN);
    combo(app, "race", s.rival.empty() ? "none" : s.rival.c_str(),
          "A second algorithm on the same problem and GPU, side by side.", [&] {
              if (entry(app, "race-none", "none", s.rival.empty(), "One algorithm alone")) s.rival.clear();
              for (const Algorithm* a : rivals_of(app.session.algorithm()))
                  if (entry(app, std::string("race-") + a->name, a->name, s.rival == a->name, a->idea))
                      s.rival = a->name;
          });
    app.session.ask(s);
    pace_controls(app);
    if (!s.rival.empty() && app.view.stage == Stage::time)
        checkbox(app, "hide-ahead", "hide what is ahead", app.view.hide_ahead,
                 "Thread blocks are drawn as they come, and where a run ends when it does: so that a race is one.");
}

void view_controls(App& app) {
    ImGui::Separator();
    checkbox(app, "light", "light", app.view.light, "Light theme: for bright rooms and for print.");
    ImGui::PushFont(app.theme.small_text);
    beside("projector");
    ImGui::PopFont();
    checkbox(app, "projector", "projector", app.view.projector, "Larger type: to be read from the last row.");
    if (button(app, "tour", "Tour", 0, app.page ? 3 : 4, "A minute's tour of the window.")) app.view.tour = 0;
    file_controls(app);
}

}  // namespace

void panel(App& app) {
    const Theme& t = app.theme;
    const std::uint64_t shown = app.session.version();
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(6), t.px(2)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(6), t.px(4)});
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, t.px(1));
    // The view's controls and the files stay where they are. A scroll bar that comes and goes would move sliders under
    // the mouse that holds them.
    const float all = ImGui::GetContentRegionAvail().y,
                below = (app.page ? 3.3f : 2.3f) * ImGui::GetFrameHeightWithSpacing();
    ImGui::BeginChild("settings", {0, std::max(all - below, all / 2)}, false, ImGuiWindowFlags_AlwaysVerticalScrollbar);
    algorithm_controls(app);
    problem_controls(app);
    tile_controls(app);
    gpu_controls(app);
    race_controls(app);
    data_controls(app);
    ImGui::EndChild();
    view_controls(app);
    ImGui::PopStyleVar(3);
    if (app.session.version() != shown) follow(app);
}

}  // namespace tilescope::gui::controls
