// The canvas of a page under Dear ImGui, in place of a window: it receives the page's events of keys and pointers, and
// shows frames.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "gui/shell/input_queue.hpp"
#include "gui/shell/painter.hpp"

namespace tilescope::gui::web {

/// Bits of the modifier keys that are held down.
enum Modifier : int { shift = 1, control = 2, alt = 4, command = 8 };

class CanvasWindow {
  public:
    /// RunError where the browser has no WebGL 2.
    CanvasWindow();
    CanvasWindow(const CanvasWindow&) = delete;
    CanvasWindow& operator=(const CanvasWindow&) = delete;

    // Events, in the words of the DOM; x and y are pixels of the canvas. Frames receive the events in order.
    /// `character`: what the key writes; 0: nothing.
    void key(bool down, const std::string& key, const std::string& code, unsigned character, int modifiers);
    void button(bool down, int button, double x, double y, int modifiers);
    void move(double x, double y);
    void leave();                           ///< the pointer left the canvas
    void wheel(double right, double down);  ///< in notches
    void blur();                            ///< the canvas lost the focus: keys and buttons count as released
    /// Makes once() ask for a few more frames.
    void wake();

    /// Draws a frame as large as the canvas. False where nothing moves, and no frame is needed until wake().
    bool once(App& app, const std::function<void(double milliseconds)>& after_frame);
    /// Composes a frame without pixels and without new input: for a picture of vectors, or to settle sizes first.
    void lay_out(App& app);
    /// Draws a frame on the canvas that nobody sees, because the next frame is drawn over it first.
    void draw_beside(App& app);
    /// The text of the field that the user types into; nullopt: no such field.
    static std::optional<std::string> field();
    /// Replaces the text of the field that the user types into, and presses Enter.
    void type(const std::string& text);
    /// What the pointer should look like, as CSS has it.
    static const char* cursor();

  private:
    void begin(App& app, double seconds);
    void tell(Input& input);
    void fit_canvas();

    struct Context {
        Context();
    } context_;  // made before the painter, which draws in it
    shell::Painter painter_;
    shell::InputQueue events_;
    ImVec2 mouse_;
    std::array<bool, 3> held_{};
    shell::Size size_{0, 0};
    float pixels_ = 1;  // of the canvas per pixel of CSS
    double before_ = 0;
    int lively_ = 10;
};

}  // namespace tilescope::gui::web
