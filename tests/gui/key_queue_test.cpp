#include "gui/shell/key_queue.hpp"

#include <string>

#include "tests/support/catch.hpp"

using namespace tilescope::gui::shell;

namespace {

using Kind = KeyEvent::Kind;

/// Frames as text: "a" goes down, "/a" up, "'a" is a character. Keys in capitals do something.
std::string frames(KeyQueue& queue) {
    std::string text;
    while (!queue.empty()) {
        for (const KeyEvent& e : queue.next_frame()) {
            text += e.kind == Kind::up ? "/" : e.kind == Kind::character ? "'" : "";
            text += static_cast<char>(e.kind == Kind::character ? static_cast<int>(e.character) : e.key);
        }
        text += ' ';
    }
    return text;
}

void down(KeyQueue& q, char key) { q.push({.kind = Kind::down, .key = key, .writes = key < 'A' || key > 'Z'}); }
void up(KeyQueue& q, char key) { q.push({.kind = Kind::up, .key = key}); }
void character(KeyQueue& q, char c) { q.push({.kind = Kind::character, .character = static_cast<unsigned>(c)}); }
void type(KeyQueue& q, char key) { down(q, key), character(q, key), up(q, key); }

}  // namespace

TEST_CASE("what happened within a slow frame is told frame by frame", "[key queue]") {
    KeyQueue q;
    CHECK(q.next_frame().empty());
    down(q, '^'), down(q, 'A'), up(q, 'A'), up(q, '^');  // Ctrl+A
    type(q, '6'), type(q, '4');
    down(q, 'E'), up(q, 'E');  // Enter
    type(q, 'x');
    CHECK(frames(q) == "^A /A/^6'6 /64'4 /4E /Ex'x /x ");
}

TEST_CASE("a key that goes down twice does so in two frames, and letters do not wait for each other", "[key queue]") {
    KeyQueue q;
    for (int k = 0; k < 2; ++k) down(q, 'R'), up(q, 'R');
    CHECK(frames(q) == "R /R R /R ");
    for (const char c : {'a', 'b'}) down(q, c), character(q, c);
    CHECK(frames(q) == "a'ab'b ");
    down(q, 'E'), character(q, 'x');
    CHECK(frames(q) == "E 'x ");
}
