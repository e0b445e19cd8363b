// Frames, drawn by OpenGL ES 3 into whatever is current: a window, a picture, a page's canvas.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui::shell {

struct Size {
    int width = 1440, height = 900;

    friend bool operator==(const Size&, const Size&) = default;
};

class Painter {
  public:
    /// Dear ImGui begins with it. There is a context of OpenGL; `shaders` is the first line of its shaders.
    explicit Painter(const char* shaders);
    ~Painter();
    Painter(const Painter&) = delete;
    Painter& operator=(const Painter&) = delete;

    /// Begins a frame: colours and fonts as the view and the size in pixels ask for.
    void begin(App& app, Size size, float display_scale);
    /// A frame's own work, of which it returns the milliseconds. Once Dear ImGui knows of what happened.
    double compose(App& app, double seconds) const;
    /// The same, and its drawing, which is not in them.
    double draw(App& app, Size size, double seconds) const;

  private:
    const FontFiles fonts_;
    bool fonts_made_ = false;
};

}  // namespace tilescope::gui::shell
