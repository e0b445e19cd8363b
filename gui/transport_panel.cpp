#include "gui/panels.hpp"

namespace tilescope::gui {

void transport_panel(App&) {}

}  // namespace tilescope::gui
