// The window's state as a line of JSON, for scripts and tests that look on (--log).
#pragma once

#include <string>

#include "gui/app.hpp"

namespace tilescope::gui::shell {

/// {"step": 12, "of": 340, "playing": false, "settled": true, ..., "places": {"play": [x, y, width, height], ...},
/// "texts": {"memory": [[text, x, y], ...], ...}}
std::string status(const App& app);

}  // namespace tilescope::gui::shell
