#include "gui/panels.hpp"

namespace tilescope::gui {

void tour(App&) {}

}  // namespace tilescope::gui
