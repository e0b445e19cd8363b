// Pictures of a window in files: of pixels, or of vectors.
#pragma once

#include <ostream>
#include <string>

#include "gui/shell/window.hpp"

namespace tilescope::gui::shell {

/// Finishes all work, and composes several frames, because ImGui knows some sizes only after a frame.
void settle(App& app, Window& window);
/// Writes what the next frame shows: as vectors where `ending` is ".svg" or ".pdf", else as a PNG.
void write_picture(App& app, Window& window, const std::string& ending, std::ostream& out);
/// Writes the stage to the file that the user asked for. Returns a message about the outcome; empty where no file was
/// asked for.
std::string export_stage(App& app, Window& window);

}  // namespace tilescope::gui::shell
