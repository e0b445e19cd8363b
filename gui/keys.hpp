// The keys that TileScope listens to, over Dear ImGui's two ways of naming them (before and from 1.87).
#pragma once

#include <imgui.h>

namespace tilescope::gui {

enum class Key { space = ImGuiKey_Space, left = ImGuiKey_LeftArrow, right = ImGuiKey_RightArrow, home = ImGuiKey_Home, end = ImGuiKey_End };

inline bool pressed(Key key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(static_cast<ImGuiKey>(key))); }

inline bool pressed_digit(int digit) {
#if IMGUI_VERSION_NUM >= 18700
    return ImGui::IsKeyPressed(static_cast<ImGuiKey>(ImGuiKey_0 + digit), false);
#else
    return ImGui::IsKeyPressed('0' + digit, false);  // as GLFW numbers them
#endif
}

}  // namespace tilescope::gui
