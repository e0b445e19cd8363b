#include "gui/shell/input_queue.hpp"

#include <string>

#include "tests/support/catch.hpp"

using namespace tilescope::gui::shell;

namespace {

using InputKind = InputEvent::Kind;

/// Frames as text: "a" is a key down, "/a" up, "'a" a character, "*" the mouse button down, "/*" up. A space ends a
/// frame.
std::string frames(InputQueue& queue) {
    std::string text;
    while (!queue.empty()) {
        for (const InputEvent& e : queue.next_frame()) {
            const bool mouse = e.kind == InputKind::press || e.kind == InputKind::release;
            text += e.kind == InputKind::up || e.kind == InputKind::release ? "/"
                    : e.kind == InputKind::character                        ? "'"
                                                                            : "";
            text +=
                mouse ? '*' : static_cast<char>(e.kind == InputKind::character ? static_cast<int>(e.character) : e.key);
        }
        text += ' ';
    }
    return text;
}

void down(InputQueue& q, char key) { q.push({.kind = InputKind::down, .key = key, .writes = key < 'A' || key > 'Z'}); }
void up(InputQueue& q, char key) { q.push({.kind = InputKind::up, .key = key}); }
void character(InputQueue& q, char c) { q.push({.kind = InputKind::character, .character = static_cast<unsigned>(c)}); }
void type(InputQueue& q, char key) { down(q, key), character(q, key), up(q, key); }

}  // namespace

TEST_CASE("what happened within a slow frame is told frame by frame", "[input queue]") {
    InputQueue q;
    CHECK(q.next_frame().empty());
    down(q, '^'), down(q, 'A'), up(q, 'A'), up(q, '^');  // Ctrl+A
    type(q, '6'), type(q, '4');
    down(q, 'E'), up(q, 'E');  // Enter
    type(q, 'x');
    CHECK(frames(q) == "^A /A/^6'6 /64'4 /4E /Ex'x /x ");
}

TEST_CASE("a modifier that is let go stays down for the key it was held for", "[input queue]") {
    InputQueue q;
    down(q, '^');
    CHECK(q.next_frame().size() == 1);
    down(q, 'A'), up(q, '^'), up(q, 'A');
    CHECK(frames(q) == "A /^/A ");
}

TEST_CASE("a key that goes down twice does so in two frames, and letters do not wait for each other", "[input queue]") {
    InputQueue q;
    for (int k = 0; k < 2; ++k) down(q, 'R'), up(q, 'R');
    CHECK(frames(q) == "R /R R /R ");
    for (const char c : {'a', 'b'}) down(q, c), character(q, c);
    CHECK(frames(q) == "a'ab'b ");
    down(q, 'E'), character(q, 'x');
    CHECK(frames(q) == "E 'x ");
}

TEST_CASE("a click within a slow frame comes before the keys that follow it, and after those before", "[input queue]") {
    InputQueue q;
    down(q, 'E'), up(q, 'E');
    q.push({.kind = InputKind::press, .x = 3}), q.push({.kind = InputKind::release, .x = 4});
    down(q, '^'), down(q, 'A'), up(q, 'A'), up(q, '^');
    CHECK(frames(q) == "E /E * /* ^A /A/^ ");
    q.push({.kind = InputKind::press, .x = 3, .y = 5});
    const auto told = q.next_frame();
    REQUIRE(told.size() == 1);
    CHECK((told[0].x == 3 && told[0].y == 5));
}
