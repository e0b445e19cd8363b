#include "gui/panels.hpp"

namespace tilescope::gui {

void controls_panel(App&) {}

}  // namespace tilescope::gui
