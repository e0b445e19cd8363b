// The next frame as vectors, whoever composes it.
#pragma once

#include <functional>
#include <string>

#include "gui/app.hpp"

namespace tilescope::gui::shell {

/// An SVG of what `lay_out` composes.
std::string as_svg(const Shown& shown, Screen& screen, const std::function<void()>& lay_out);

}  // namespace tilescope::gui::shell
