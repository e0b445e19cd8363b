// The tile program that the simulator executes, with the line that the SM in focus is on.
#include <algorithm>
#include <string_view>

#include "gui/code/parts.hpp"
#include "gui/draw/canvas.hpp"
#include "lab/own/own.hpp"
#include "show/run/programs.hpp"

namespace tilescope::gui::code {
namespace {

/// The last event of the shown tick that a line of the program of the SM in focus caused; nullptr: none.
const Event* spoken(const Shown& shown) {
    const SmState* sm = shown.focus();
    const Event* last = nullptr;
    for (std::size_t k = 0; sm && k < sm->steps.size(); ++k) {
        const Event& e = shown.session.run()->trace()[sm->steps[k]].event;
        if (e.source_line != 0) last = &e;
    }
    return last;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The program that is executed now, which may be that of another algorithm; nullptr: not known.
const EmbeddedFile* program_of(const Shown& shown) {
    const auto files = embedded_programs();
    const Event* e = spoken(shown);
    const Algorithm& algorithm = shown.session.run() ? shown.session.run()->algorithm() : shown.session.algorithm();
    const std::string_view source = e ? e->source_file : algorithm.lineage.file ? algorithm.lineage.file : "";
    for (const EmbeddedFile& f : lab::own_programs())
        if (file_name(f.name) == file_name(source)) return &f;
    const std::string own = '/' + std::string(algorithm.name) + "/simulated.cpp";
    const auto found = std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& f) {
        return e ? e->source_file == f.name : f.name.ends_with(own);
    });
    return found == files.end() ? nullptr : &*found;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

void draw_line(const Theme& t, std::string_view line, int number, bool current, float gutter) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetTextLineHeightWithSpacing();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float left = ImGui::GetWindowPos().x, right = left + ImGui::GetWindowWidth();
    if (current) {
        draw->AddRectFilled({left, at.y}, {right, at.y + height}, Theme::faded(t.highlight, t.light ? 0.16f : 0.2f),
                            t.px(3));
        draw->AddRectFilled({left, at.y}, {left + t.px(3), at.y + height}, t.highlight);
    }
    const float y = at.y + std::round((height - t.mono->FontSize) / 2);
    const std::string n = std::to_string(number);
    const Canvas c(t);
    c.text(t.small_text,
           {left + gutter - t.px(8) - Canvas::width(t.small_text, n), y + t.mono->Ascent - t.small_text->Ascent},
           current ? t.ink : t.dim_ink, n);
    const std::size_t comment = std::min(line.find("//"), line.size());
    // The line numbers stay where they are when the code is scrolled sideways.
    ImGui::PushClipRect({left + gutter, at.y}, {right, at.y + height}, true);
    const std::string_view code = line.substr(0, comment);
    c.text(t.mono, {at.x + gutter, y}, current ? t.ink : Theme::mixed(t.ink, t.dim_ink, 0.45f), code, line);
    const float character = Canvas::width(t.mono, "0");
    c.text(t.mono, {at.x + gutter + character * static_cast<float>(comment), y}, t.dim_ink, line.substr(comment), "");
    ImGui::PopClipRect();
    ImGui::Dummy({gutter + character * static_cast<float>(line.size()), ImGui::GetTextLineHeight()});
}

}  // namespace

std::string program_path(const Shown& shown) {
    const EmbeddedFile* program = program_of(shown);
    return program ? std::string(program->name) : "";
}

void program_text(const Shown& shown, const Screen& screen, float height) {
    const Theme& t = screen.theme;
    const EmbeddedFile* file = program_of(shown);
    ImGui::PushFont(t.mono);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, row_height(t) - t.mono->FontSize});
    ImGui::BeginChild("program", {0, height}, false, ImGuiWindowFlags_HorizontalScrollbar);
    if (file) {
        const std::vector<std::string_view> lines = lines_of(file->text);
        const Event* now = spoken(shown);
        const int current = now ? static_cast<int>(now->source_line) : 0;
        const float row = ImGui::GetTextLineHeightWithSpacing();
        if (moved(shown, current, {0, height}))
            ImGui::SetScrollY(
                row * std::max(0.f, std::round(static_cast<float>(current) - ImGui::GetWindowHeight() / row / 2)));
        ImGuiListClipper clipper;
        clipper.Begin(static_cast<int>(lines.size()), row);
        while (clipper.Step())
            for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
                draw_line(t, lines[static_cast<std::size_t>(i)], i + 1, i + 1 == current, t.px(34));
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopFont();
}

}  // namespace tilescope::gui::code
