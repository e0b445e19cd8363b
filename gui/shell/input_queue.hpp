// Keys, characters and mouse buttons on their way from the window system to a frame.
#pragma once

#include <deque>
#include <vector>

namespace tilescope::gui::shell {

struct InputEvent {
    enum class Kind : unsigned char { down, up, character, press, release };

    Kind kind;
    int key = 0, scancode = 0, mods = 0;  ///< of a key that goes down or up, as GLFW has them
    bool writes = false;                  ///< a character follows, or nothing: a letter, a modifier
    unsigned character = 0;
    int button = 0;       ///< of the mouse, that is pressed or released
    double x = 0, y = 0;  ///< where, in the window
};

/// Dear ImGui 1.86 looks at keys and buttons once a frame: what goes down and up again within one did not happen, and
/// of two things in one frame it chooses the order. So a frame is told of every key once, and of nothing that comes
/// after a key that does something; a button that changes has a frame of its own, since it says who hears the next key.
/// On slow frames a click, Ctrl+A, a number and Enter arrive as they were made.
class InputQueue {
  public:
    void push(const InputEvent& event) { events_.push_back(event); }
    bool empty() const { return events_.empty(); }
    /// What the next frame is told, in order.
    std::vector<InputEvent> next_frame();

  private:
    std::deque<InputEvent> events_;
};

}  // namespace tilescope::gui::shell
