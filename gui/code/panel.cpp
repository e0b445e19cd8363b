// What is being executed: the code above, what happens and why below.
#include <algorithm>
#include <utility>

#include "algorithms/contract/pseudo_code.hpp"
#include "gui/code/parts.hpp"
#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "gui/draw/whole.hpp"
#include "gui/panels.hpp"
#include "lab/own/own.hpp"
#include "show/run/loop_nest.hpp"
#include "show/words/code_text.hpp"
#include "show/words/modelled.hpp"
#include "show/words/narration.hpp"

namespace tilescope::gui::code {
namespace {

int lines_in(const ImFont* font, std::string_view text, float width) {
    return static_cast<int>(Canvas::broken(font, text, width).size());
}

/// The name of a tab, underlined if the tab is shown.
void tab(Shown& shown, Screen& screen, const std::string& label, const char* place, Tab which,
         const std::string& what) {
    const Theme& t = screen.theme;
    const ImVec2 size = {width_of(label), t.text->FontSize + t.px(7)};
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (hit_area(place, size)) shown.view.tab = which;
    screen.place(place);
    const bool open = shown.view.tab == which, over = ImGui::IsItemHovered();
    if (over) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        tooltip(what);
    }
    const Canvas c(t);
    c.text(t.text, {at.x, at.y + t.px(1)}, open || over ? t.ink : t.dim_ink, label);
    if (open) c.fill({at.x, at.y + size.y - t.px(2), at.x + size.x, at.y + size.y}, t.highlight);
}

void about(const Algorithm& a, const Theme& t) {
    if (!ImGui::IsItemHovered()) return;
    const Tooltip shown(t.px(420));
    text_line(message("code_panel.idea", a.name, idea_of(a)));
    ImGui::PushStyleColor(ImGuiCol_Text, t.dim_ink);
    text_line(message("algorithm_controls.source", lab::source_of(a)));
    ImGui::PopStyleColor();
}

/// The tabs on the left, the algorithm's name on the right.
void tabs(Shown& shown, Screen& screen) {
    const Theme& t = screen.theme;
    const Algorithm& a = shown.session.run() ? shown.session.run()->algorithm() : shown.session.algorithm();
    const float width = ImGui::GetContentRegionAvail().x, left = ImGui::GetCursorPosX();
    tab(shown, screen, message("code_panel.code"), "tab-code", Tab::code, message("code_panel.about_code"));
    ImGui::SameLine(0, t.px(16));
    tab(shown, screen, message("code_panel.program"), "tab-program", Tab::program, message("code_panel.about_program"));
    ImGui::SameLine(0, t.px(12));
    const float room = left + width - ImGui::GetCursorPosX();
    ImGui::PushFont(t.title);
    if (const float name = width_of(a.name); name <= room) {
        ImGui::SetCursorPosX(left + width - name);
        text_line(a.name);
        about(a, t);
    } else {
        ImGui::NewLine();
    }
    ImGui::PopFont();
}

/// In small type the algorithm's idea, in at most two lines, with the columns' names; or the program's path.
void heading(const Shown& shown, const Screen& screen) {
    const Theme& t = screen.theme;
    const Algorithm& a = shown.session.run() ? shown.session.run()->algorithm() : shown.session.algorithm();
    const bool code = shown.view.tab == Tab::code;
    const std::string said = code ? idea_of(a) : program_path(shown);
    const float width = ImGui::GetContentRegionAvail().x, size = t.small_text->FontSize;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const CodeColumns columns = code_columns(screen, width);
    const bool named = columns.costs && code && shown.session.run();
    const float room = named ? columns.hbm - t.px(62) : width;
    const int lines = std::min(2, lines_in(t.small_text, said, room));
    ImGui::Dummy({width, static_cast<float>(lines) * size + t.px(2)});
    about(a, t);
    const Canvas c(t);
    c.paragraph(t.small_text, at, t.dim_ink, said, room, lines);
    if (!named) return;
    const float y = at.y + static_cast<float>(lines - 1) * size;
    const auto name = [&](const std::string& text, float right) {
        c.text_in(t.small_text, {at.x, y, at.x + right, y + size}, t.dim_ink, text, Align::right);
    };
    const std::string sm = message("code_panel.sm_bytes");
    name(sm, columns.hbm);
    const float left = at.x + columns.hbm - Canvas::width(t.small_text, sm);
    if (hovered({left, y, at.x + columns.hbm, y + size})) tooltip(about_sm_traffic());
    name(message("code_panel.flops"), columns.flops);
}

/// The texts below the code, and how many lines each has.
struct Words {
    std::string sentence, reason;
    std::vector<std::string> loops;
    int sentence_lines = 1, reason_lines = 0;
    float height = 0;
};

/// As many lines as the longest of the reasons needs, so that the code does not move when the reason changes.
int lines_for_reasons(const Shown& shown, const Screen& screen, float width) {
    int most = 0;
    const Algorithm& a = shown.session.run() ? shown.session.run()->algorithm() : shown.session.algorithm();
    for (const CodeLine& line : code_of(shown.session))
        most = std::max(most, lines_in(screen.theme.text, why_of(a, line), width));
    return most;
}

float height_of(const Words& w, const Theme& t) {
    const float small = w.loops.empty() ? 0 : t.px(5) + static_cast<float>(w.loops.size()) * t.small_text->FontSize;
    const float reason = w.reason_lines > 0 ? t.px(3) + static_cast<float>(w.reason_lines) * t.text->FontSize : 0;
    return t.px(7) + static_cast<float>(w.sentence_lines) * t.text->FontSize + reason + small;
}

/// What fits in `most`: the loops of other launches are the first to go, then those of this one, then the reason, then
/// lines of the sentence.
Words words(const Shown& shown, const Screen& screen, float width, float most) {
    const Theme& t = screen.theme;
    const Run* run = shown.session.run();
    Words w;
    w.sentence = what_happens_now(shown.session, shown.focus());
    w.sentence_lines = std::max(2, lines_in(t.text, w.sentence, width));
    if (const SmState* sm = shown.focus())
        w.reason = why(*run, *sm), w.reason_lines = lines_for_reasons(shown, screen, width);
    const bool large =
        run && (!run->shortened().empty() || run->counted().counters.thread_blocks > run->schedule().sms_used());
    if (large) w.loops = loop_nest(*run);
    if (height_of(w, t) > most && large) w.loops = loop_nest(*run, std::max<Index>(0, run->moment().launch));
    if (height_of(w, t) > most) w.loops.clear();
    if (height_of(w, t) > most) w.reason_lines = 0;
    while (w.sentence_lines > 1 && height_of(w, t) > most) --w.sentence_lines;
    w.height = height_of(w, t);
    return w;
}

void tell(const Shown& shown, const Screen& screen, const Words& w, float width) {
    const Theme& t = screen.theme;
    ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy({width, w.height});
    if (ImGui::IsItemHovered() && shown.session.run()) {
        const Tooltip box(t.px(420));
        text_line(w.sentence);
        if (!w.reason.empty()) text_line(w.reason);
        for (const std::string& loop : loop_nest(*shown.session.run())) text_line(loop);
        if (const std::string& part = shown.session.run()->shortened(); !part.empty()) text_line(part);
    }
    const float end = at.y + w.height;
    const Canvas c(t);
    c.line(at, {at.x + width, at.y}, t.panel_border);
    at.y += t.px(6);
    const int said = c.paragraph(t.text, at, t.ink, w.sentence, width, w.sentence_lines);
    at.y += static_cast<float>(said) * t.text->FontSize + t.px(3);
    if (w.reason_lines > 0) c.paragraph(t.text, at, t.dim_ink, w.reason, width, w.reason_lines);
    at.y = end - static_cast<float>(w.loops.size()) * t.small_text->FontSize;
    for (const std::string& loop : w.loops) {
        c.text(t.small_text, at, t.dim_ink, loop);
        at.y += t.small_text->FontSize;
    }
}

}  // namespace

bool moved(const Shown& shown, int line, ImVec2 room) {
    const Run* run = shown.session.run();
    const std::pair<const char*, Index> now[] = {{"tick", run ? run->tick() : -2},
                                                 {"line", line},
                                                 {"SM", shown.view.sm},
                                                 {"width", whole(room.x, 0, 100000)},
                                                 {"height", whole(room.y, 0, 100000)}};
    bool differs = false;
    for (const auto& [what, n] : now) {
        int& before = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID(what), -1);
        differs |= std::exchange(before, static_cast<int>(n)) != static_cast<int>(n);
    }
    return differs;
}

void panel(Shown& shown, Screen& screen) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (room.x < 1 || room.y < 1) return;
    const Theme& t = screen.theme;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, t.px(4)});
    tabs(shown, screen);
    if (room.y > t.px(260)) heading(shown, screen);
    const ImVec2 rest = ImGui::GetContentRegionAvail();
    const Words said = words(shown, screen, rest.x, rest.y * 0.48f);
    const float code = whole_rows(t, rest.y - said.height - t.px(4));
    shown.view.tab == Tab::code ? pseudo_code(shown, screen, code) : program_text(shown, screen, code);
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ImGui::GetContentRegionAvail().y - said.height);
    tell(shown, screen, said, rest.x);
    ImGui::PopStyleVar();
}

}  // namespace tilescope::gui::code
