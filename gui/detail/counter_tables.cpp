#include "gui/detail/counter_tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/text/numbers.hpp"
#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"

namespace tilescope::gui::detail {
namespace {

constexpr ImGuiTableFlags table_style = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp |
                                        ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_NoPadOuterX;

void column_of(ImGuiTableColumnFlags flags, float weight) { ImGui::TableSetupColumn("", flags, weight); }

/// The next cell, with `text` at its right edge. What does not fit is cut; the tooltip has everything.
void cell(const Theme& t, const std::string& text, ImU32 colour, const std::string& explanation = {}) {
    ImGui::TableNextColumn();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = t.small_text->FontSize;
    Canvas(t).text_in(t.small_text, {at.x, at.y, at.x + width, at.y + height}, colour, text, Align::right);
    ImGui::Dummy({width, height});
    if (!ImGui::IsItemHovered()) return;
    if (!explanation.empty() || Canvas::width(t.small_text, text) > width)
        tooltip(explanation.empty() ? text : explanation);
}

/// The next cell, with `text` at its left edge, or `brief` where that does not fit.
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

std::string ratio_text(double other, double own) {
    if (own == 0) return "";
    const double ratio = other / own;
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, ratio >= 9.95 ? "×%.0f" : ratio >= 0.995 ? "×%.1f" : "×%.2g", ratio);
    return buffer;
}

/// A row of the table: a number that can be read off any set of counters.
struct Row {
    const char *name, *brief;
    const char* unit;  // "B": bytes
    double (*value)(const Counters&);
    const char* meaning;
};

double intensity(const Counters& c) {
    return c.hbm() > 0 ? static_cast<double>(c.flops()) / static_cast<double>(c.hbm()) : 0;
}

constexpr Row rows[] = {
    {"HBM read", "HBM rd", "B", [](const Counters& c) { return double(c.hbm_read); }, "bytes from HBM to the SMs"},
    {"HBM written", "HBM wr", "B", [](const Counters& c) { return double(c.hbm_write); }, "bytes from the SMs to HBM"},
    {"SRAM read", "SRAM rd", "B", [](const Counters& c) { return double(c.sram_read); },
     "bytes of operands in shared memory"},
    {"SRAM written", "SRAM wr", "B", [](const Counters& c) { return double(c.sram_write); },
     "bytes of results in shared memory"},
    {"registers", "regs", "B", [](const Counters& c) { return double(c.register_read + c.register_write); },
     "bytes of operands and results in registers"},
    {"matmul FLOPs", "matmul", "FLOP", [](const Counters& c) { return double(c.matmul_flops); },
     "2 m n k for every product of tiles"},
    {"exponentials", "exp", "", [](const Counters& c) { return double(c.exps); }, "exponentials"},
    {"other FLOPs", "other", "FLOP", [](const Counters& c) { return double(c.other_flops); },
     "every other floating-point operation"},
    {"launches", "launch", "", [](const Counters& c) { return double(c.launches); }, "kernels launched"},
    {"thread blocks", "blocks", "", [](const Counters& c) { return double(c.thread_blocks); }, "thread blocks run"},
    {"FLOPs per byte", "FLOP/B", "FLOP/B", intensity,
     "operations for every byte between HBM and the SMs: arithmetic intensity"},
};

std::string short_text(const Row& r, double value) {
    const std::string_view unit = r.unit;
    if (unit == "B") return text::bytes(value);
    if (unit == "FLOP/B") return value > 0 ? text::number(value) : "–";
    // Few enough to be counted one by one.
    return value < 100'000 && unit.empty() ? text::grouped(static_cast<Count>(value)) : text::count(value);
}

std::string long_text(const Row& r, double value) {
    const bool whole = r.value != intensity;
    const std::string digits = whole ? text::grouped(static_cast<Count>(value)) : text::number(value);
    return std::string(r.name) + ": " + digits + (*r.unit ? std::string(" ") + r.unit : "") + "\n" + r.meaning;
}

/// The algorithm to compare with: the one that is chosen if it computes the same, or else one that does.
const Algorithm* compared(const App& app, const Run& run) {
    const Algorithm* chosen = find_algorithm(app.view.compare);
    if (chosen && chosen->family == run.algorithm().family) return chosen;
    for (const Algorithm& a : algorithms())
        if (a.family == run.algorithm().family && a.name != std::string_view(run.algorithm().name)) return &a;
    return &run.algorithm();
}

/// Lets the user choose it, in a cell of the header.
void choose_compared(App& app, const Run& run, const Algorithm& now) {
    const Theme& t = app.theme;
    ImGui::PushFont(t.small_text);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(4), t.px(1)});
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
    const bool open = begin_list("##compare", now.name, ImGuiComboFlags_HeightLarge);
    app.place("compare");
    if (!open && ImGui::IsItemHovered()) tooltip("the whole run of this algorithm, on the same problem and GPU");
    if (open) {
        for (const Algorithm& a : algorithms()) {
            if (a.family != run.algorithm().family) continue;
            if (list_entry(a.name, &a == &now)) app.view.compare = a.name;
            app.place(std::string("compare-") + a.name);
        }
        ImGui::EndCombo();
    }
    ImGui::PopStyleVar();
    ImGui::PopFont();
}

void header(App& app, const Run& run, const Algorithm& other) {
    const Theme& t = app.theme;
    ImGui::TableNextRow();
    left_cell(t, run.algorithm().name, t.dim_ink);
    cell(t, "so far", t.dim_ink,
         "up to tick " + text::grouped(run.tick()) + ", of what is recorded" +
             (run.shortened().empty() ? "" : ".\n" + run.shortened()));
    cell(t, "whole run", t.dim_ink, "all heads and thread blocks, recorded or not");
    if (app.session.rival()) {
        cell(t, other.name, t.dim_ink, std::string("the whole run of ") + other.name);
    } else {
        ImGui::TableNextColumn();
        choose_compared(app, run, other);
    }
    cell(t, "ratio", t.dim_ink, "the other algorithm's whole run : this one's");
}

/// Of the bytes it is known how many there will be in the end.
void progress(const Theme& t, const Run& run, const Row& r) {
    const Index end = run.ticks(), now = run.tick();
    const auto share = [](Bytes part, Bytes all) { return all > 0 ? double(part) / double(all) : 0.0; };
    if (&r == &rows[0]) bar_below(t, share(run.hbm_read(now), run.hbm_read(end)), t.hbm);
    if (&r == &rows[1]) bar_below(t, share(run.hbm_write(now), run.hbm_write(end)), t.hbm);
}

std::string role_text(Role role) {
    return role == Role::input ? "input" : role == Role::output ? "output" : "scratch: exists for this algorithm only";
}

void traffic_cell(const Theme& t, const std::string& name, const char* verb, Bytes bytes, Bytes most, ImU32 hue) {
    cell(t, text::bytes(static_cast<double>(bytes)), bytes > 0 ? t.ink : t.dim_ink,
         name + ", " + verb + ": " + text::grouped(bytes) + " B");
    bar_below(t, most > 0 ? static_cast<double>(bytes) / static_cast<double>(most) : 0, hue);
}

/// So far, by name: of what is recorded.
Traffic traffic_so_far(const Run& run, const std::string& name) {
    const auto& recorded = run.trace().tensors();
    const auto& states = run.player().state().tensors;
    Traffic sum;
    for (std::size_t k = 0; k < std::min(recorded.size(), states.size()); ++k)
        if (recorded[k].name == name) sum += states[k].traffic;
    return sum;
}

void tensor_row(const Theme& t, const TensorReport& r, Traffic so_far, Bytes most, ImU32 hue) {
    ImGui::TableNextRow();
    left_cell(t, r.name, t.ink, r.name + ": " + role_text(r.role));
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddRectFilled({a.x, b.y}, {b.x, b.y + t.px(2)}, hue);
    cell(t, text::bytes(static_cast<double>(r.bytes)), t.ink,
         r.name + " in HBM: " + text::grouped(r.bytes) + " B, " + role_text(r.role));
    traffic_cell(t, r.name, "read so far", so_far.read, r.traffic.read, hue);
    traffic_cell(t, r.name, "written so far", so_far.write, r.traffic.write, hue);
    traffic_cell(t, r.name, "read in the whole run", r.traffic.read, most, hue);
    traffic_cell(t, r.name, "written in the whole run", r.traffic.write, most, hue);
}

}  // namespace

void counters_table(App& app, const Run& run) {
    const Theme& t = app.theme;
    const Run* rival = app.session.rival();
    const Algorithm& other = rival ? rival->algorithm() : *compared(app, run);
    const Report* report = rival ? &rival->counted() : app.session.counted(other.name);
    if (!ImGui::BeginTable("counters", 5, table_style)) return;
    for (const float weight : {1.15f, 1.f, 1.f, 1.2f, 0.68f}) column_of(0, weight);
    header(app, run, other);
    for (const Row& r : rows) {
        ImGui::TableNextRow();
        left_cell(t, r.name, t.ink, std::string(r.name) + ": " + r.meaning, r.brief);
        const double so_far = r.value(run.player().state().total), whole = r.value(run.counted().counters);
        cell(t, short_text(r, so_far), t.ink, long_text(r, so_far));
        progress(t, run, r);
        cell(t, short_text(r, whole), t.ink, long_text(r, whole));
        if (!report) {
            cell(t, "does not fit", t.dim_ink, std::string(other.name) + " does not fit on chip with this tiling");
            cell(t, "", t.dim_ink);
            continue;
        }
        const double theirs = r.value(report->counters);
        cell(t, short_text(r, theirs), t.ink, long_text(r, theirs));
        cell(t, ratio_text(theirs, whole), t.ink);
    }
    ImGui::EndTable();
}

void tensors_table(const App& app, const Run& run) {
    const Theme& t = app.theme;
    if (!ImGui::BeginTable("tensors", 6, table_style)) return;
    for (const float weight : {0.6f, 1.f, 1.f, 1.f, 1.f, 1.f}) column_of(0, weight);
    ImGui::TableNextRow();
    left_cell(t, "HBM", t.dim_ink, "tensors in HBM");
    cell(t, "size", t.dim_ink, "bytes of the whole tensor");
    cell(t, "read", t.dim_ink, "so far, of what is recorded; the bar is the share of the whole run");
    cell(t, "written", t.dim_ink, "so far, of what is recorded; the bar is the share of the whole run");
    cell(t, "all reads", t.dim_ink, "in the whole run; the bars compare the tensors");
    cell(t, "all writes", t.dim_ink, "in the whole run; the bars compare the tensors");
    TensorReport all{"total", Role::scratch, 0, {}};
    Traffic all_so_far;
    Bytes most = 1;
    for (const TensorReport& r : run.counted().tensors) most = std::max({most, r.traffic.read, r.traffic.write});
    for (const TensorReport& r : run.counted().tensors) {
        const Traffic so_far = traffic_so_far(run, r.name);
        tensor_row(t, r, so_far, most, t.hue(r.name));
        all.bytes += r.bytes, all.traffic += r.traffic, all_so_far += so_far;
    }
    ImGui::TableNextRow();
    left_cell(t, "total", t.ink);
    for (const auto& [name, bytes] : {std::pair{"all tensors in HBM", all.bytes},
                                      {"read so far", all_so_far.read},
                                      {"written so far", all_so_far.write},
                                      {"read in the whole run", all.traffic.read},
                                      {"written in the whole run", all.traffic.write}})
        cell(t, text::bytes(static_cast<double>(bytes)), t.ink, std::string(name) + ": " + text::grouped(bytes) + " B");
    ImGui::EndTable();
}

}  // namespace tilescope::gui::detail
