// Keys and characters on their way from the window system to a frame.
#pragma once

#include <deque>
#include <vector>

namespace tilescope::gui::shell {

struct KeyEvent {
    enum class Kind : unsigned char { down, up, character };

    Kind kind;
    int key = 0, scancode = 0, mods = 0;  ///< of a key that goes down or up, as GLFW has them
    bool writes = false;                  ///< a character follows, or nothing: a letter, a modifier
    unsigned character = 0;
};

/// Dear ImGui 1.86 looks at keys once a frame: what goes down and up again within one did not happen, and of two things
/// in one frame it chooses the order. So a frame is told of every key once, and of nothing that comes after a key that
/// does something. On slow frames Ctrl+A, a number and Enter arrive as they were typed.
class KeyQueue {
  public:
    void push(const KeyEvent& event) { events_.push_back(event); }
    bool empty() const { return events_.empty(); }
    /// What the next frame is told, in order.
    std::vector<KeyEvent> next_frame();

  private:
    std::deque<KeyEvent> events_;
};

}  // namespace tilescope::gui::shell
