#include "gui/draw/notes.hpp"

#include <algorithm>

namespace tilescope::gui {

Notes* notes() { return static_cast<Notes*>(ImGui::GetIO().UserData); }

void note(std::string_view text, ImVec2 at) {
    if (Notes* n = notes(); n && !text.empty()) n->of(n->now_).push_back({std::string(text), at});
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

NotedAs::NotedAs(std::string_view panel) {
    if (Notes* n = notes()) before_ = std::exchange(n->now_, panel);
}

NotedAs::~NotedAs() {
    if (Notes* n = notes()) n->now_ = before_;
}

}  // namespace tilescope::gui
