// The pseudo-code as a list: a gutter with breakpoints, the code, and what each line has cost so far.
#include "algorithms/contract/pseudo_code.hpp"

#include <array>
#include <string_view>

#include "gui/code/parts.hpp"
#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "gui/draw/whole.hpp"
#include "show/words/code_text.hpp"

namespace tilescope::gui::code {
namespace {

/// A line of code as it is laid out.
struct Row {
    CodeLine line;
    std::size_t indent;                   ///< in characters
    std::vector<std::string_view> parts;  ///< without the indentation; parts after the first are indented by two more
    float top, height;                    ///< within the list
};

/// Everything that drawing a row needs to know.
struct List {
    Shown& shown;
    Screen& screen;
    const Algorithm& algorithm;
    CodeColumns columns;
    float row, character;
    std::uint16_t current = 0, refused = 0;      ///< the line of the SM in focus; the line whose tile does not fit
    std::map<std::uint16_t, Count> others = {};  ///< how many other SMs are on a line
};

/// From the top of a row to the top of a letter, so that all fonts share a baseline.
float above_code(const List& l, const ImFont* font) {
    const ImFont* mono = l.screen.theme.mono;
    return std::round((l.row - mono->FontSize) / 2 + mono->Ascent - font->Ascent);
}

const LineProfile& profile_of(const Run& run, std::uint16_t line) {
    static const LineProfile none;
    const auto found = run.lines().find(line);
    return found == run.lines().end() ? none : found->second;
}

Row laid_out(const CodeLine& line, std::size_t first, std::size_t others) {
    return {line, indent_of(line.code), code_parts(line.code, first, others), 0, 0};
}

/// Where the code of a line's first part ends: at its costs, if it has any.
float end_of_first_part(const List& l, std::uint16_t line) {
    const Theme& t = l.screen.theme;
    const Run* run = l.shown.session.run();
    const Counters all = run && l.columns.costs ? profile_of(*run, line).cost : Counters();
    if (all.hbm() > 0) return l.columns.hbm - t.px(58);
    return all.flops() > 0 ? l.columns.flops - t.px(50) : l.columns.width - t.px(4);
}

/// Only a line's first part makes room for its costs; the other parts have the whole width.
std::vector<Row> laid_out(const List& l) {
    const auto fit = [&](float right) {
        return static_cast<std::size_t>(whole((right - l.columns.code) / l.character, 8, 1000));
    };
    const std::size_t others = fit(l.columns.width - l.screen.theme.px(4));
    std::vector<Row> rows;
    float y = 0;
    for (const CodeLine& line : code_of(l.shown.session)) {
        rows.push_back(laid_out(line, fit(end_of_first_part(l, line.number)), others));
        rows.back().top = y;
        rows.back().height = l.row * static_cast<float>(std::max<std::size_t>(1, rows.back().parts.size()));
        y += rows.back().height;
    }
    return rows;
}

/// Keeps the current line in the middle, and with it the whole loop body that it is in, so that the code stands still
/// while a loop runs.
void follow(const List& l, const std::vector<Row>& rows) {
    const std::uint16_t wanted = l.refused ? l.refused : l.current;
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.line.number == wanted; });
    const float room = ImGui::GetWindowHeight();
    if (at == rows.end()) {
        ImGui::SetScrollY(0);
        return;
    }
    auto first = at, last = at;
    while (first != rows.begin() && (first - 1)->indent >= at->indent) --first;
    while (last + 1 != rows.end() && (last + 1)->indent >= at->indent) ++last;
    if (last->top + last->height - first->top > room) first = last = at;
    const float middle = (first->top + last->top + last->height) / 2;
    ImGui::SetScrollY(l.row * std::max(0.f, std::round((middle - room / 2) / l.row)));
}

/// A row of the table of costs: a name, and two numbers at the right of their columns.
void cost_row(const std::array<std::string, 3>& row) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn(), text_line(row[0]);
    for (const std::string& s : {row[1], row[2]}) {
        ImGui::TableNextColumn();
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.f, ImGui::GetContentRegionAvail().x - width_of(s)));
        text_line(s);
    }
}

void table_of_costs(const Theme& t, const std::vector<std::array<std::string, 3>>& rows) {
    if (!ImGui::BeginTable("costs", 3, ImGuiTableFlags_SizingFixedFit)) return;
    ImGui::TableSetupColumn("", 0, t.px(130)), ImGui::TableSetupColumn("", 0, t.px(110));
    ImGui::TableSetupColumn("", 0, t.px(110));
    ImGui::PushStyleColor(ImGuiCol_Text, t.dim_ink);
    cost_row(rows.front());
    ImGui::PopStyleColor();
    for (std::size_t k = 1; k < rows.size(); ++k) cost_row(rows[k]);
    ImGui::EndTable();
}

void explain(const List& l, const Row& row) {
    const Theme& t = l.screen.theme;
    const Run* run = l.shown.session.run();
    const std::uint16_t n = row.line.number;
    const auto costs = run ? line_costs(*run, n) : std::vector<std::array<std::string, 3>>();
    const std::string why = why_of(l.algorithm, row.line);
    if (costs.empty() && l.refused != n && why.empty()) return;
    const Tooltip shown(t.px(400));
    if (!why.empty()) text_line(why);
    if (l.refused == n) text_line(message("code_panel.does_not_fit"));
    if (!costs.empty()) {
        table_of_costs(t, costs);
        ImGui::PushStyleColor(ImGuiCol_Text, t.dim_ink);
        text_line(message("code_panel.next_visit", std::to_string(l.shown.view.sm)));
        ImGui::PopStyleColor();
    }
}

/// Goes to the tick at which the SM in focus next executes a line; after the last such tick, to the first.
void visit(Shown& shown, Screen& screen, std::uint16_t line) {
    const Run* run = shown.session.run();
    if (!run) return;
    const Index sm = shown.view.sm;
    auto tick = run->next_tick(run->tick(), sm, visits(line));
    if (!tick) {
        tick = run->next_tick(0, sm, visits(line));
        screen.say(why_no_next_visit(*run, sm, line, tick.has_value()));
    }
    if (tick) shown.playback.go(shown.session.position_of(*tick));
}

/// Gives the last item a name for scripts, if its middle is visible.
void place_visible(Screen& screen, const std::string& name) {
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    const ImVec2 middle = {(a.x + b.x) / 2, (a.y + b.y) / 2};
    if (ImGui::IsRectVisible(middle, {middle.x + 1, middle.y + 1})) screen.place(name);
}

/// From the left: the breakpoint's dot, a triangle where other SMs are on the line, the line's number.
void gutter(const List& l, const Row& row, ImVec2 at) {
    const Theme& t = l.screen.theme;
    const std::uint16_t n = row.line.number;
    const std::string number = std::to_string(n);
    ImGui::SetCursorScreenPos(at);
    auto& stops = l.shown.view.breakpoints;
    if (hit_area("break-" + number, {l.columns.code - t.px(4), row.height}))
        stops.contains(n) ? static_cast<void>(stops.erase(n)) : static_cast<void>(stops.insert(n));
    place_visible(l.screen, "break-" + number);
    const bool over = ImGui::IsItemHovered(), stop = stops.contains(n);
    const auto found = l.others.find(n);
    const Count others = found == l.others.end() ? 0 : found->second;
    if (over) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand), tooltip(about_breakpoint(l.shown.view.sm, others, stop));
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float y = at.y + l.row / 2;
    if (stop || over) draw->AddCircleFilled({at.x + t.px(9), y}, t.px(4.5f), stop ? t.bad : Theme::faded(t.bad, 0.4f));
    if (others > 0) {
        const float x = at.x + t.px(17), h = t.px(4);
        draw->AddTriangleFilled({x, y - h}, {x, y + h}, {x + h * 1.4f, y}, t.dim_ink);
    }
    const float right = at.x + l.columns.code - t.px(8);
    Canvas(t).text(t.small_text, {right - Canvas::width(t.small_text, number), at.y + above_code(l, t.small_text)},
                   n == l.current ? t.ink : t.dim_ink, number);
}

/// What the line has cost so far; dim while that is nothing, empty where it never costs anything.
void costs(const List& l, const Row& row, ImVec2 at) {
    const Run* run = l.shown.session.run();
    if (!run || !l.columns.costs) return;
    const Theme& t = l.screen.theme;
    const LineCost cost = line_cost(*run, row.line.number);
    const auto number = [&](const std::string& text, float right, bool any) {
        const float x = at.x + right - Canvas::width(t.small_text, text);
        Canvas(t).text(t.small_text, {x, at.y + above_code(l, t.small_text)}, any ? t.ink : t.dim_ink, text);
    };
    number(cost.hbm, l.columns.hbm, cost.has_hbm);
    number(cost.flops, l.columns.flops, cost.has_flops);
}

/// The bar behind the current line, or behind the one whose tile did not fit.
void light(const List& l, const Row& row, ImVec2 at) {
    const Theme& t = l.screen.theme;
    const bool current = row.line.number == l.current, refused = row.line.number == l.refused;
    if (!current && !refused) return;
    const ImU32 colour = refused ? t.bad : t.highlight;
    const ImVec2 end = {at.x + l.columns.width, at.y + row.height};
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled(at, end, Theme::faded(colour, t.light ? 0.16f : 0.2f), t.px(3));
    draw->AddRectFilled(at, {at.x + t.px(3), end.y}, colour);
}

void draw_row(const List& l, const Row& row, ImVec2 at) {
    const Theme& t = l.screen.theme;
    light(l, row, at);
    gutter(l, row, at);
    ImGui::SetCursorScreenPos({at.x + l.columns.code - t.px(4), at.y});
    const std::string name = "line-" + std::to_string(row.line.number);
    if (hit_area(name, {l.columns.width - l.columns.code + t.px(4), row.height}))
        visit(l.shown, l.screen, row.line.number);
    place_visible(l.screen, name);
    const bool over = ImGui::IsItemHovered();
    if (over) {
        explain(l, row);
        if (l.shown.session.run()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    }
    const bool lit = over || row.line.number == l.current || row.line.number == l.refused;
    const ImU32 ink = lit ? t.ink : Theme::mixed(t.ink, t.dim_ink, 0.45f);
    float y = at.y + above_code(l, t.mono);
    std::size_t indent = row.indent;
    for (const std::string_view& part : row.parts) {
        const float x = at.x + l.columns.code + l.character * static_cast<float>(indent);
        Canvas(t).text(t.mono, {x, y}, ink, part, &part == row.parts.data() ? row.line.code : "");
        y += l.row, indent = row.indent + 2;
    }
    costs(l, row, at);
}

List list_of(Shown& shown, Screen& screen) {
    const Run* run = shown.session.run();
    const Theme& t = screen.theme;
    List l{.shown = shown,
           .screen = screen,
           .algorithm = run ? run->algorithm() : shown.session.algorithm(),
           .columns = code_columns(screen, ImGui::GetWindowWidth()),
           .row = row_height(t),
           .character = Canvas::width(t.mono, "0")};
    const SmState* sm = shown.focus();
    if (sm) l.current = sm->line;
    if (run)
        for (const SmState& other : run->moment().sms)
            if (&other != sm && other.line != 0) ++l.others[other.line];
    const auto& overflow = shown.session.overflow();
    if (overflow && overflow->algorithm == std::string_view(l.algorithm.name)) l.refused = overflow->error.line;
    return l;
}

}  // namespace

CodeColumns code_columns(const Screen& screen, float room) {
    const Theme& t = screen.theme;
    // The scrollbar has its place whether it is there or not, so that nothing moves when it comes.
    const float width = room - ImGui::GetStyle().ScrollbarSize, right = width - t.px(4);
    return {width, t.px(46), right - t.px(56), right, width > t.px(330)};
}

void pseudo_code(Shown& shown, Screen& screen, float height) {
    ImGui::BeginChild("pseudo-code", {0, height});
    const List l = list_of(shown, screen);
    const std::vector<Row> rows = laid_out(l);
    // The list follows when the machine or the window changes; in between it can be scrolled.
    if (moved(shown, l.current, {l.columns.width, height})) follow(l, rows);
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    for (const Row& row : rows) draw_row(l, row, {origin.x, origin.y + row.top});
    ImGui::EndChild();
}

}  // namespace tilescope::gui::code
