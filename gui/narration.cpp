#include "gui/narration.hpp"

namespace tilescope::gui {

std::string what_happens(const Run&, const SmState&) { return {}; }
std::string why(const Run&, const SmState&) { return {}; }
std::vector<std::string> loop_nest(const Run&) { return {}; }
std::string rows_of(const Run&, const Region&) { return {}; }

}  // namespace tilescope::gui
