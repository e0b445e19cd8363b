// A film of the stage that the browser records while it plays, alone on the canvas.
#pragma once

#include <optional>

#include "gui/app.hpp"

namespace tilescope::gui::web {

class Recorder {
  public:
    /// Calls the page's function `what`.
    using Tell = void (*)(const char* what, const std::string& text);

    /// Whether a film is asked for and not begun.
    bool to_begin(const Files& files) const { return files.filming && !before_; }
    /// Shows nothing but the stage, at the first step of the film.
    void prepare(Shown& shown, Screen& screen, const Files& files);
    /// Begins the film with what is on the canvas. The page records from here on.
    void begin(Shown& shown, const Files& files, Tell tell);
    /// To be called after every frame; `now` in milliseconds. Ends the film after its last step, and shows again what
    /// was shown before.
    void work(Shown& shown, Screen& screen, Files& files, double now, Tell tell);

  private:
    void end(Shown& shown, Screen& screen, Files& files, bool keep, Tell tell);

    struct Before {
        State state;
        std::optional<Alone> alone;
    };
    std::optional<Before> before_;
    std::optional<double> ends_;  // when, in ms; the last picture is shown for as long as a step takes
};

}  // namespace tilescope::gui::web
