#include "gui/shell/key_queue.hpp"

#include <set>

namespace tilescope::gui::shell {

std::vector<KeyEvent> KeyQueue::next_frame() {
    std::vector<KeyEvent> told;
    std::set<int> changed;
    bool done = false;  // a key has done something
    while (!events_.empty()) {
        const KeyEvent& e = events_.front();
        const bool is_key = e.kind != KeyEvent::Kind::character, does = e.kind == KeyEvent::Kind::down && !e.writes;
        if (is_key ? changed.contains(e.key) || (done && e.kind == KeyEvent::Kind::down) : done) break;
        if (is_key) changed.insert(e.key);
        done |= does;
        told.push_back(e);
        events_.pop_front();
    }
    return told;
}

}  // namespace tilescope::gui::shell
