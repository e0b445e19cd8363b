// A window on the screen, or a picture of one without a screen: GLFW and OpenGL ES 3 under Dear ImGui.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "gui/shell/input_queue.hpp"
#include "gui/shell/painter.hpp"

struct GLFWwindow;

namespace tilescope::gui::shell {

/// The least and the greatest size that a flag may ask for. A smaller window is drawn, too, but cannot be read.
constexpr Size window_least = {320, 240}, window_most = {7680, 4320};

/// Pixels in rows from the top, with 4 bytes each: red, green, blue, opacity (255, unless nothing is drawn behind).
struct Picture {
    Size size;
    std::vector<std::uint8_t> rgba;
};

/// There is no display, or none with OpenGL ES 3 or OpenGL 3.2.
struct NoDisplay : RunError {
    using RunError::RunError;
};

class Window {
  public:
    enum class Kind { visible, hidden };

    /// Throws NoDisplay.
    Window(Kind kind, Size size);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    /// Shows frames until the window is closed or `stop` says so; `after_frame` is told the milliseconds of work that
    /// each took, drawing by OpenGL not included.
    void show(App& app, const std::function<bool()>& stop, const std::function<void(double)>& after_frame);
    Size size() const { return size_; }  ///< in pixels
    /// Draws one frame off screen, `seconds` after the one before, and takes its picture.
    Picture picture(App& app, double seconds);
    /// Composes the same frame without pixels, because these take most of the time for a large picture.
    void lay_out(App& app, double seconds);
    /// Letters of all frames so far that no installed font has.
    const std::vector<char32_t>& lacking() const { return painter_->lacking(); }

  private:
    bool once(App& app, const std::function<void(double)>& after_frame);
    void begin_hidden(App& app, double seconds);
    void take_events(const Shown& shown, const Host& host);
    void listen();
    void tell(Input& input);
    void place_mouse() const;
    void fill_screen(Host& host);

    GLFWwindow* window_ = nullptr;
    std::optional<Painter> painter_;
    InputQueue events_;
    std::optional<InputEvent> button_;  // the mouse event of this frame, if a button changed
    std::array<bool, 5> held_{};        // mouse buttons that are down, as frames were told
    Size size_;
    double before_ = 0;  // when the last frame was drawn
    struct {
        int x, y, width, height;
    } in_part_{};      // the window's place before it filled the screen
    int lively_ = 10;  // frames to draw before waiting: ImGui needs a few to settle after an event
};

}  // namespace tilescope::gui::shell
