#include "gui/shell/input_queue.hpp"

#include <set>

namespace tilescope::gui::shell {
namespace {

bool is_of_mouse(const InputEvent& e) {
    return e.kind == InputEvent::Kind::press || e.kind == InputEvent::Kind::release;
}

}  // namespace

std::vector<InputEvent> InputQueue::next_frame() {
    std::vector<InputEvent> told;
    std::set<int> changed;
    bool done = false;  // an event that ends the frame's share was taken
    while (!done && !events_.empty()) {
        const InputEvent& e = events_.front();
        const bool is_key = e.kind == InputEvent::Kind::down || e.kind == InputEvent::Kind::up;
        if (is_of_mouse(e) ? !told.empty() : is_key && !changed.insert(e.key).second) break;
        done = is_of_mouse(e) || (e.kind == InputEvent::Kind::down && !e.writes);
        told.push_back(e);
        events_.pop_front();
    }
    return told;
}

}  // namespace tilescope::gui::shell
