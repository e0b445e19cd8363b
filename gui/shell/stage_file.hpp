// Pictures of a window in files: of pixels, or of vectors.
#pragma once

#include <ostream>
#include <string>

#include "gui/shell/window.hpp"

namespace tilescope::gui::shell {

/// Finishes all work, and draws several frames, because ImGui learns the sizes of some things by drawing.
void settle(App& app, Window& window);
/// What the next frame shows: as vectors where the ending is ".svg" or ".pdf", else as a PNG.
void write_picture(App& app, Window& window, const std::string& ending, std::ostream& out);
/// Writes the stage to the file that the user asked for. Returns what came of it; nothing where none was asked for.
std::string export_stage(App& app, Window& window);

}  // namespace tilescope::gui::shell
