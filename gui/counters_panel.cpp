#include "gui/panels.hpp"

namespace tilescope::gui {

void counters_panel(App&) {}

}  // namespace tilescope::gui
