// Keys, characters and mouse buttons on their way from the window system to a frame.
#pragma once

#include <deque>
#include <vector>

namespace tilescope::gui::shell {

struct InputEvent {
    enum class Kind : unsigned char { down, up, character, press, release };

    Kind kind;
    int key = 0, scancode = 0, mods = 0;  ///< of a key that goes down or up, as GLFW has them
    bool writes = false;                  ///< the key writes a character, or is a modifier such as Shift
    unsigned character = 0;
    int button = 0;       ///< the mouse button that is pressed or released
    double x = 0, y = 0;  ///< where the mouse was, in the window
};

/// Dear ImGui 1.86 looks at keys and buttons once a frame: it misses a key that goes down and up within one, and orders
/// the events of a frame itself. So a frame gets at most one event of each key, and none after a key that does
/// something. A button that changes has a frame of its own, because it decides which item gets the next key. On slow
/// frames a click, Ctrl+A, a number and Enter then arrive in order.
class InputQueue {
  public:
    void push(const InputEvent& event) { events_.push_back(event); }
    bool empty() const { return events_.empty(); }
    /// Takes the events that the next frame receives, in order.
    std::vector<InputEvent> next_frame();

  private:
    std::deque<InputEvent> events_;
};

}  // namespace tilescope::gui::shell
