// The next frame as vectors, composed by the window or the page.
#pragma once

#include <functional>
#include <string>

#include "gui/app.hpp"

namespace tilescope::gui::shell {

/// An SVG of the frame that `lay_out` composes.
std::string as_svg(const Shown& shown, Screen& screen, const std::function<void()>& lay_out);

}  // namespace tilescope::gui::shell
