// Exports the view that is shown: a view that plays as the stage alone, an explored one as a figure or its numbers.
#include <algorithm>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "gui/draw/dialog.hpp"
#include "gui/draw/whole.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/panels.hpp"
#include "show/files/page_files.hpp"

namespace tilescope::gui {
using text::message;
namespace {

bool names_film(const Host& host, const std::string& path) { return host.page ? is_page_film(path) : is_film(path); }

void begin_film(const Shown& shown, Files& files, const Host& host, const std::string& path) {
    if (files.filming) throw UsageError(message("export_dialog.filming", text::shown(files.filming->order.path)));
    check_film(files.film, shown.session.length());
    if (!host.page) require_film_writer();
    files.film.path = path, files.film.caption = files.stage_file.caption;
    files.filming = Filming{files.film, shown.state()};
}

void begin(const Shown& shown, Derived& derived, Screen& screen, Files& files, const Host& host,
           const std::string& path) {
    if (host.page) check_page_file(shown.session, shown.view.stage, path);
    if (plays(shown.view.stage)) {
        if (!host.page) check_stage_file(shown.session, path);
        if (names_film(host, path)) return begin_film(shown, files, host, path);
        files.stage_file.path = path;
    } else {
        files.exporting.begin(shown.session, shown.view, derived.explorer, path);
    }
    screen.say(drawing_text(path));
}

void step_field(const Shown& shown, Screen& screen, const std::string& label, const char* place, Index& step) {
    ImGui::AlignTextToFramePadding();
    text_line(label);
    ImGui::SameLine();
    ImGui::SetNextItemWidth(width_of("100,000") + 2 * ImGui::GetStyle().FramePadding.x);
    auto number = static_cast<double>(step);
    if (number_field((std::string("##") + place).c_str(), number)) step = whole(number, 0, shown.session.length());
    screen.place(place);
}

/// From which step to which, and how long that takes.
void choose_steps(const Shown& shown, Screen& screen, Files& files, const Host& host) {
    step_field(shown, screen, message("export_dialog.from"), "film-from", files.film.from);
    ImGui::SameLine();
    step_field(shown, screen, message("export_dialog.to"), "film-to", files.film.to);
    text_wrapped(film_length_text(shown.session, files.film, shown.playback.speed()));
    if (host.page) text_wrapped(about_page_films());
}

void choose(const Shown& shown, Screen& screen, Files& files, const Host& host) {
    if (!plays(shown.view.stage)) return;
    const bool film = names_film(host, files.export_dialog.path);
    film ? choose_steps(shown, screen, files, host)
         : remark(screen, host.page ? about_page_endings() : about_endings());
    StageFile& f = files.stage_file;
    checkbox(screen, "export-caption", message("export_dialog.caption"), f.caption,
             message("export_dialog.about_caption"));
    if (film) return;  // a film always has a background
    ImGui::SameLine(0, screen.theme.px(18));
    checkbox(screen, "export-transparent", message("export_dialog.transparent"), f.transparent,
             message("export_dialog.about_transparent"));
}

}  // namespace

void export_control(const Shown& shown, Derived& derived, Screen& screen, Files& files, const Host& host) {
    const Theme& t = screen.theme;
    const std::string label = message("export_dialog.begin"), title = message("export_dialog.title");
    ImGui::PushFont(t.small_text);
    const float width = width_of(label) + 2 * ImGui::GetStyle().FramePadding.x + t.px(8);
    const float right = ImGui::GetWindowWidth() - ImGui::GetStyle().WindowPadding.x;
    const bool whole = ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x + t.px(4) < right - width;
    const float wide = whole ? width : t.px(20);
    ImGui::SameLine(right - wide);
    const bool clicked = push_button(label, whole ? label : "…", {wide, 0});
    ImGui::PopFont();
    screen.place("export");
    tip(screen, host.page ? about_page_export(shown.view.stage) : about_export(shown.view.stage));
    if (clicked) {
        files.film = usual_film(shown.playback);
        const std::string name = host.page ? usual_page_file(shown.view.stage) : usual_file(shown.view.stage);
        name.copy(files.export_dialog.path, name.size());
        files.export_dialog.path[name.size()] = 0;
        ImGui::OpenPopup(title.c_str());
    }
    path_dialog(
        screen, files.export_dialog, Asks::where_to_write, title, message("export_dialog.export"),
        [&](const std::string& path) { begin(shown, derived, screen, files, host, path); },
        [&] { choose(shown, screen, files, host); });
}

}  // namespace tilescope::gui
