#include "gui/panels.hpp"

namespace tilescope::gui {

void values_panel(App&) {}

}  // namespace tilescope::gui
