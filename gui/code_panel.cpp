#include "gui/panels.hpp"

namespace tilescope::gui {

void code_panel(App&) {}

}  // namespace tilescope::gui
