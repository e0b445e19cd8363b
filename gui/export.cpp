// The view that is shown, as a file: what plays as the stage alone, what is explored as a figure or its numbers.
#include <algorithm>

#include "gui/draw/dialog.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/panels.hpp"

namespace tilescope::gui {
namespace {

void begin(App& app, const std::string& path) {
    if (plays(app.view.stage)) {
        check_stage_file(app.session, path);
        app.stage_file.path = path;
    } else {
        app.exporting.begin(app.session, app.view, app.explorer, path);
    }
    app.say(drawing_text(path));
}

void choose(App& app) {
    if (!plays(app.view.stage)) return;
    StageFile& f = app.stage_file;
    checkbox(app, "export-caption", "caption", f.caption, "Below the picture: the algorithm, the problem, the GPU");
    ImGui::SameLine(0, app.theme.px(18));
    checkbox(app, "export-transparent", "transparent", f.transparent, "Nothing behind the picture");
}

}  // namespace

void export_control(App& app) {
    const Theme& t = app.theme;
    const std::string label = "Export…";
    ImGui::PushFont(t.small_text);
    const float width = width_of(label) + 2 * ImGui::GetStyle().FramePadding.x + t.px(8);
    const float right = ImGui::GetWindowWidth() - ImGui::GetStyle().WindowPadding.x;
    const bool whole = ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x + t.px(4) < right - width;
    const float shown = whole ? width : t.px(20);
    ImGui::SameLine(right - shown);
    const bool clicked = push_button(label, whole ? label : "…", {shown, 0});
    ImGui::PopFont();
    app.place("export");
    tip(app, about_export(app.view.stage));
    if (clicked) {
        const std::string name = usual_file(app.view.stage);
        name.copy(app.export_dialog.path, name.size());
        app.export_dialog.path[name.size()] = 0;
        ImGui::OpenPopup("Export this view");
    }
    path_dialog(app, app.export_dialog, Asks::where_to_write, "Export this view", "Export", begin, choose);
}

}  // namespace tilescope::gui
