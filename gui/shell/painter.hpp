// Frames, drawn by OpenGL ES 3 into the current framebuffer: a window's, a picture's, or that of a page's canvas.
#pragma once

#include <vector>

#include "gui/app.hpp"
#include "gui/shell/letters.hpp"

namespace tilescope::gui::shell {

struct Size {
    int width = 1440, height = 900;

    friend bool operator==(const Size&, const Size&) = default;
};

class Painter {
  public:
    /// Starts Dear ImGui in the current OpenGL context. `shaders`: the first line of its shaders.
    explicit Painter(const char* shaders);
    ~Painter();
    Painter(const Painter&) = delete;
    Painter& operator=(const Painter&) = delete;

    /// Begins a frame: colours and fonts as the view and the size in pixels ask for.
    void begin(const Shown& shown, Screen& screen, Size size, float display_scale);
    /// Composes a frame without drawing it, and returns how many milliseconds that took. To be called once Dear ImGui
    /// has its input.
    double compose(App& app, double seconds) const;
    /// Composes a frame and draws it. Returns the milliseconds of composing alone.
    double draw(App& app, Size size, double seconds) const;
    /// Letters that the frames had no font for.
    const std::vector<char32_t>& lacking() const { return letters_.lacking(); }

  private:
    FontFiles fonts_;
    Letters letters_;
    bool fonts_made_ = false;
};

}  // namespace tilescope::gui::shell
