#include "gui/shell/keys.hpp"

namespace tilescope::gui::shell {

Key with_shift(Key key) { return key == Key::left ? Key::operation_back : key == Key::right ? Key::operation_on : key; }

std::optional<Key> key_of_letter(std::string_view letter, bool command, bool shift) {
    if (command) {
        if (letter == "z") return shift ? Key::redo : Key::undo;
        if (letter == "y") return Key::redo;
        return std::nullopt;
    }
    if (letter == "b") return Key::blank;
    if (letter == "f") return Key::full_screen;
    if (letter == "c") return Key::code;
    if (letter == "v") return Key::values;
    if (letter == "z") return Key::zoom;
    return std::nullopt;
}

}  // namespace tilescope::gui::shell
