// The progress of a film that is written while the window goes on, and the button that ends the film.
#include <algorithm>

#include "core/text/message.hpp"
#include "gui/draw/items.hpp"
#include "gui/panels.hpp"

namespace tilescope::gui {
using text::message;

void filming_panel(Screen& screen, Filming& film, ImVec2 corner) {
    const Theme& t = screen.theme;
    const NotedAs as("filming");
    const std::string cancel = message("dialog.cancel");
    const ImGuiStyle& style = ImGui::GetStyle();
    // As wide as the longest text will be.
    const float words = std::max(width_of(filming_text(film.order.path, 0, 0)),
                                 width_of(filming_text(film.order.path, film.all, std::max<Index>(1, film.all)))),
                button = width_of(cancel) + t.px(14);
    const ImVec2 size = {words + style.ItemSpacing.x + button + 2 * style.WindowPadding.x,
                         ImGui::GetFrameHeight() + 2 * style.WindowPadding.y};
    ImGui::SetCursorScreenPos({corner.x - size.x, corner.y - size.y});
    ImGui::PushStyleColor(ImGuiCol_ChildBg, t.panel);
    ImGui::PushStyleColor(ImGuiCol_Border, t.highlight);
    ImGui::BeginChild("filming", size, true, ImGuiWindowFlags_NoScrollbar);
    ImGui::AlignTextToFramePadding();
    text_line(filming_text(film.order.path, film.done, film.all));
    ImGui::SameLine(style.WindowPadding.x + words + style.ItemSpacing.x);
    film.cancelled |= push_button(cancel, {button, 0});
    screen.place("film-cancel");
    ImGui::EndChild();
    ImGui::PopStyleColor(2);
}

}  // namespace tilescope::gui
