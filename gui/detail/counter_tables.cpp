#include "gui/detail/counter_tables.hpp"

#include <algorithm>

#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "show/words/modelled.hpp"

namespace tilescope::gui::detail {
using namespace lab;
namespace {

constexpr ImGuiTableFlags table_style = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp |
                                        ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_NoPadOuterX;

void column_of(ImGuiTableColumnFlags flags, float weight) { ImGui::TableSetupColumn("", flags, weight); }

/// Draws the next cell, with its text at the right edge. A text that does not fit is cut; the tooltip has all of it.
void cell(const Theme& t, const TableCell& said, ImU32 colour) {
    ImGui::TableNextColumn();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = t.small_text->FontSize;
    Canvas(t).text_in(t.small_text, {at.x, at.y, at.x + width, at.y + height}, colour, said.text, Align::right);
    ImGui::Dummy({width, height});
    if (!ImGui::IsItemHovered()) return;
    if (!said.explanation.empty() || Canvas::width(t.small_text, said.text) > width)
        tooltip(said.explanation.empty() ? said.text : said.explanation);
}

/// Draws the next cell, with `text` at the left edge, or `brief` where `text` does not fit.
void left_cell(const Theme& t, const std::string& text, ImU32 colour, const std::string& explanation = {},
               const std::string& brief = {}) {
    ImGui::TableNextColumn();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = t.small_text->FontSize;
    const std::vector<std::string> texts = {text, brief.empty() ? text : brief};
    Canvas(t).text_in(t.small_text, {at.x, at.y, at.x + width, at.y + height}, colour, texts);
    ImGui::Dummy({width, height});
    if (ImGui::IsItemHovered() && !explanation.empty()) tooltip(explanation);
}

/// A thin bar at the bottom of the cell that was drawn last.
void bar_below(const Theme& t, double share, ImU32 colour) {
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    const float width = (b.x - a.x) * static_cast<float>(std::clamp(share, 0.0, 1.0));
    ImGui::GetWindowDrawList()->AddRectFilled({a.x, b.y}, {b.x, b.y + t.px(2)}, t.faint);
    ImGui::GetWindowDrawList()->AddRectFilled({a.x, b.y}, {a.x + width, b.y + t.px(2)}, colour);
}

/// The algorithm to compare with: the chosen one if it has the same computation, else the first other one that has.
const Algorithm* compared(const Shown& shown, const Run& run) {
    const Algorithm* chosen = find_algorithm(shown.view.compare);
    if (chosen && chosen->computes == run.algorithm().computes) return chosen;
    for (const Algorithm& a : algorithms())
        if (a.computes == run.algorithm().computes && a.name != std::string_view(run.algorithm().name)) return &a;
    return &run.algorithm();
}

/// Lets the user choose the algorithm to compare with, in a cell of the header.
void choose_compared(Shown& shown, Screen& screen, const Run& run, const Algorithm& now) {
    const Theme& t = screen.theme;
    ImGui::PushFont(t.small_text);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(4), t.px(1)});
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
    const bool open = begin_list("##compare", now.name, ImGuiComboFlags_HeightLarge);
    screen.place("compare");
    if (!open && ImGui::IsItemHovered()) tooltip(message("detail.about_compared"));
    if (open) {
        for (const Algorithm& a : algorithms()) {
            if (a.computes != run.algorithm().computes) continue;
            if (list_entry(a.name, &a == &now)) shown.view.compare = a.name;
            screen.place(std::string("compare-") + a.name);
        }
        ImGui::EndCombo();
    }
    ImGui::PopStyleVar();
    ImGui::PopFont();
}

void header(Shown& shown, Screen& screen, const Run& run, const Algorithm& other) {
    const Theme& t = screen.theme;
    const auto [name, so_far, whole, theirs, ratio] = counter_header(run, other.name);
    ImGui::TableNextRow();
    left_cell(t, name.text, t.dim_ink);
    cell(t, so_far, t.dim_ink);
    cell(t, whole, t.dim_ink);
    if (shown.session.rival()) {
        cell(t, theirs, t.dim_ink);
    } else {
        ImGui::TableNextColumn();
        choose_compared(shown, screen, run, other);
    }
    cell(t, ratio, t.dim_ink);
}

void traffic_cell(const Theme& t, const TensorRow::Amount& traffic, ImU32 hue) {
    cell(t, traffic, traffic.any ? t.ink : t.dim_ink);
    bar_below(t, traffic.share, hue);
}

void tensor_row(const Theme& t, const TensorRow& r) {
    const ImU32 hue = t.hue(r.meaning);
    ImGui::TableNextRow();
    left_cell(t, r.name.text, t.ink, r.name.explanation);
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddRectFilled({a.x, b.y}, {b.x, b.y + t.px(2)}, hue);
    cell(t, r.size, t.ink);
    for (const TensorRow::Amount* each : {&r.read, &r.written, &r.all_reads, &r.all_writes})
        traffic_cell(t, *each, hue);
}

}  // namespace

void counters_table(Shown& shown, Screen& screen, const Run& run) {
    const Theme& t = screen.theme;
    const Run* rival = shown.session.rival();
    const Algorithm& other = rival ? rival->algorithm() : *compared(shown, run);
    const Report* report = rival ? &rival->counted() : shown.session.counted(other.name);
    if (!ImGui::BeginTable("counters", 5, table_style)) return;
    for (const float weight : {1.15f, 1.f, 1.f, 1.2f, 0.68f}) column_of(0, weight);
    header(shown, screen, run, other);
    for (const CounterRow& r : counter_rows(run, other.name, report)) {
        ImGui::TableNextRow();
        left_cell(t, r.name, t.ink, r.explanation, r.brief);
        screen.place("counter-" + r.name);
        cell(t, r.so_far, r.of_whole_run ? t.dim_ink : t.ink);
        if (r.progress) bar_below(t, *r.progress, t.hbm);
        cell(t, r.whole, t.ink);
        cell(t, r.other, report ? t.ink : t.dim_ink);
        cell(t, {r.ratio, ""}, t.ink);
    }
    ImGui::EndTable();
}

void verdict_text(const Shown& shown, const Screen& screen, const Run& run) {
    ImGui::PushFont(screen.theme.small_text);
    ImGui::Spacing();
    for (const std::string& said : verdicts(run, shown.session.rival())) text_wrapped(said);
    ImGui::Spacing();
    ImGui::PopFont();
}

void tensors_table(const Screen& screen, const Run& run) {
    const Theme& t = screen.theme;
    if (!ImGui::BeginTable("tensors", 6, table_style)) return;
    for (const float weight : {0.6f, 1.f, 1.f, 1.f, 1.f, 1.f}) column_of(0, weight);
    const auto titles = tensor_header();
    ImGui::TableNextRow();
    left_cell(t, titles[0].text, t.dim_ink, titles[0].explanation);
    for (std::size_t k = 1; k < titles.size(); ++k) cell(t, titles[k], t.dim_ink);
    for (const TensorRow& r : tensor_rows(run)) tensor_row(t, r);
    const TensorRow total = tensor_total(run);
    ImGui::TableNextRow();
    left_cell(t, total.name.text, t.ink);
    for (const TableCell* each : std::initializer_list<const TableCell*>{&total.size, &total.read, &total.written,
                                                                         &total.all_reads, &total.all_writes})
        cell(t, *each, t.ink);
    ImGui::EndTable();
}

}  // namespace tilescope::gui::detail
