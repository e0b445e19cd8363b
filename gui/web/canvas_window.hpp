// The canvas of a page under Dear ImGui, in place of a window: what the page hears of keys and pointers comes in here,
// and frames come out.
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

    // What happened, in the words of the DOM; places in pixels of the canvas. Frames are told in order.
    /// `character`: what the key writes; 0: nothing.
    void key(bool down, const std::string& key, const std::string& code, unsigned character, int modifiers);
    void button(bool down, int button, double x, double y, int modifiers);
    void move(double x, double y);
    void leave();                           ///< the pointer is nowhere
    void wheel(double right, double down);  ///< in notches
    void blur();                            ///< keys and buttons go up elsewhere
    /// A few more frames are wanted.
    void wake();

    /// Draws a frame as large as the canvas is. False where nothing moves, and nobody needs another one until wake().
    bool once(App& app, const std::function<void(double milliseconds)>& after_frame);
    /// The same without pixels and without new input: for pictures drawn by other means, or in the next call.
    void lay_out(App& app);
    /// Draws a frame on the canvas that nobody sees, because the next frame is drawn over it first.
    void draw_beside(App& app);
    /// The text of the field that is typed into; nullopt: there is none.
    static std::optional<std::string> field();
    /// Replaces the text of that field, and presses Enter.
    void type(const std::string& text);
    /// What the pointer should look like, as CSS has it.
    static const char* cursor();

  private:
    void begin(App& app, double seconds);
    void tell(Input& input);
    void fit_canvas();

    struct Context {
        Context();
    } context_;  // before all that draws
    shell::Painter painter_;
    shell::InputQueue events_;
    ImVec2 mouse_;
    std::array<bool, 3> held_{};
    shell::Size size_{0, 0};
    float pixels_ = 1;  // of the canvas, to one of CSS
    double before_ = 0;
    int lively_ = 10;
};

}  // namespace tilescope::gui::web
