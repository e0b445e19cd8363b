#include "gui/shell/vectors.hpp"

#include "gui/draw/drawing.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui::shell {

std::string as_svg(App& app, const std::function<void()>& lay_out) {
    Drawing drawing;
    app.notes.drawing = &drawing;
    lay_out();
    app.notes.drawing = nullptr;
    const bool transparent = app.alone && app.alone->transparent;
    return drawing.svg(ImGui::GetIO().DisplaySize, transparent ? 0 : app.theme.panel,
                       caption_text(app.session, app.view.stage == Stage::time), shell_command(app.state()));
}

}  // namespace tilescope::gui::shell
