// The code panel's parts, one file each.
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "gui/app.hpp"

namespace tilescope::gui::code {

/// The height of a row of code, and of as many whole rows as fit into `room` (at least one).
inline float row_height(const Theme& t) { return t.mono->FontSize + t.px(4); }
inline float whole_rows(const Theme& t, float room) {
    return row_height(t) * std::max(1.f, std::floor(room / row_height(t)));
}

/// Places of the pseudo-code's columns, from the left of the list.
struct CodeColumns {
    float width;       ///< of all of them
    float code;        ///< left of the code, right of the gutter
    float hbm, flops;  ///< right edges; not drawn where there is no room for them
    bool costs;        ///< whether hbm and flops have room
};
CodeColumns code_columns(const Screen& screen, float room);

/// The pseudo-code with breakpoints and costs, in a child window.
void pseudo_code(Shown& shown, Screen& screen, float height);
/// The tile program that is simulated, in a child window.
void program_text(const Shown& shown, const Screen& screen, float height);
/// The path of the tile program in the sources; empty: not known.
std::string program_path(const Shown& shown);

/// Whether tick, SM in focus, line or room of the current window differ from those of the frame before.
bool moved(const Shown& shown, int line, ImVec2 room);

}  // namespace tilescope::gui::code
