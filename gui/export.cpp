// Exports the view that is shown: a view that plays as the stage alone, an explored one as a figure or its numbers.
#include <algorithm>

#include "core/machine/error.hpp"
#include "core/text/words.hpp"
#include "gui/draw/dialog.hpp"
#include "gui/draw/whole.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/panels.hpp"
#include "show/files/page_files.hpp"

namespace tilescope::gui {
namespace {

bool names_film(const App& app, const std::string& path) { return app.page ? is_page_film(path) : is_film(path); }

void begin_film(App& app, const std::string& path) {
    if (app.filming)
        throw UsageError(text::shown(app.filming->order.path) + " is still being written; wait, or cancel it");
    check_film(app.film, app.session.length());
    if (!app.page) require_film_writer();
    app.film.path = path, app.film.caption = app.stage_file.caption;
    app.filming = Filming{app.film, app.state()};
}

void begin(App& app, const std::string& path) {
    if (app.page) check_page_file(app.session, app.view.stage, path);
    if (plays(app.view.stage)) {
        if (!app.page) check_stage_file(app.session, path);
        if (names_film(app, path)) return begin_film(app, path);
        app.stage_file.path = path;
    } else {
        app.exporting.begin(app.session, app.view, app.explorer, path);
    }
    app.say(drawing_text(path));
}

void step_field(App& app, const char* label, const char* place, Index& step) {
    ImGui::AlignTextToFramePadding();
    text_line(label);
    ImGui::SameLine();
    ImGui::SetNextItemWidth(width_of("100,000") + 2 * ImGui::GetStyle().FramePadding.x);
    auto number = static_cast<double>(step);
    if (number_field((std::string("##") + place).c_str(), number)) step = whole(number, 0, app.session.length());
    app.place(place);
}

/// From which step to which, and how long that takes.
void choose_steps(App& app) {
    step_field(app, "from operation", "film-from", app.film.from);
    ImGui::SameLine();
    step_field(app, "to", "film-to", app.film.to);
    text_wrapped(film_length_text(app.session, app.film, app.playback.speed()));
    if (app.page) text_wrapped(about_page_films());
}

void choose(App& app) {
    if (!plays(app.view.stage)) return;
    const bool film = names_film(app, app.export_dialog.path);
    film ? choose_steps(app) : remark(app, app.page ? about_page_endings() : about_endings());
    StageFile& f = app.stage_file;
    checkbox(app, "export-caption", "caption", f.caption, "Below the picture: the algorithm, the problem, the GPU");
    if (film) return;  // a film always has a background
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
    tip(app, app.page ? about_page_export(app.view.stage) : about_export(app.view.stage));
    if (clicked) {
        app.film = usual_film(app.playback);
        const std::string name = app.page ? usual_page_file(app.view.stage) : usual_file(app.view.stage);
        name.copy(app.export_dialog.path, name.size());
        app.export_dialog.path[name.size()] = 0;
        ImGui::OpenPopup("Export this view");
    }
    path_dialog(app, app.export_dialog, Asks::where_to_write, "Export this view", "Export", begin, choose);
}

}  // namespace tilescope::gui
