#include "gui/shell/vectors.hpp"

#include "gui/draw/drawing.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui::shell {

std::string as_svg(const Shown& shown, Screen& screen, const std::function<void()>& lay_out) {
    Drawing drawing;
    screen.notes.drawing = &drawing;
    lay_out();
    screen.notes.drawing = nullptr;
    const bool transparent = screen.alone && screen.alone->transparent;
    return drawing.svg(ImGui::GetIO().DisplaySize, transparent ? 0 : screen.theme.panel, shown.caption(),
                       shell_command(shown.state()));
}

}  // namespace tilescope::gui::shell
