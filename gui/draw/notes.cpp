#include "gui/draw/notes.hpp"

#include <algorithm>

namespace tilescope::gui {

Notes* notes() { return static_cast<Notes*>(ImGui::GetIO().UserData); }

void note(std::string_view text, ImVec2 at, const ImFont* font) {
    if (Notes* n = notes(); n && !text.empty()) n->of(n->now_).push_back({std::string(text), at, font});
}

void Notes::begin_frame() {
    ImGui::GetIO().UserData = this;
    panels_.clear();
    now_.clear();
}

std::vector<Note>& Notes::of(std::string_view panel) {
    const auto known = std::find_if(panels_.begin(), panels_.end(), [&](const auto& p) { return p.first == panel; });
    return known != panels_.end() ? known->second : panels_.emplace_back(panel, std::vector<Note>()).second;
}

std::string_view readable(std::string_view text) {
    constexpr std::size_t most = 4000;
    std::size_t end = std::min(most, text.size());
    // A UTF-8 character is never cut in two.
    while (end > 0 && end < text.size() && (text[end] & 0xc0) == 0x80) --end;
    return text.substr(0, end);
}

NotedAs::NotedAs(std::string_view panel) {
    if (Notes* n = notes()) before_ = std::exchange(n->now_, panel);
}

NotedAs::~NotedAs() {
    if (Notes* n = notes()) n->now_ = before_;
}

}  // namespace tilescope::gui
