// What keys mean everywhere in the window, whoever hears of them.
#pragma once

#include <optional>
#include <string_view>

#include "gui/app.hpp"

namespace tilescope::gui::shell {

/// The key with Shift: arrows then step by an operation, whatever the stride is.
Key with_shift(Key key);
/// Letters are where the keyboard's layout has them. `command`: with Ctrl, or what stands for it.
std::optional<Key> key_of_letter(std::string_view letter, bool command, bool shift);

}  // namespace tilescope::gui::shell
