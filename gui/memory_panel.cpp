#include "gui/panels.hpp"

namespace tilescope::gui {

void memory_panel(App&, Run&, const char*) {}
void overflow_panel(App&) {}

}  // namespace tilescope::gui
