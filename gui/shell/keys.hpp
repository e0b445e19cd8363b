// What keys mean, for the window and for the page.
#pragma once

#include <optional>
#include <string_view>

#include "gui/app.hpp"

namespace tilescope::gui::shell {

/// The meaning of a key with Shift: arrows step by an operation, whatever the stride is.
Key with_shift(Key key);
/// The meaning of a letter in the keyboard's layout; nullopt: none. `command`: Ctrl, or a key in its place, is down.
std::optional<Key> key_of_letter(std::string_view letter, bool command, bool shift);

}  // namespace tilescope::gui::shell
