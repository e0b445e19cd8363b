// Pictures and films of the window, for slides and pages.
#pragma once

#include <optional>
#include <ostream>

#include "gui/shell/native.hpp"
#include "gui/shell/window.hpp"

namespace tilescope::gui::shell {

/// Writes a PNG. RunError when it cannot.
void write_png(const Picture& picture, std::ostream& out);

/// Writes an SVG as a PDF, with its text as text in embedded fonts. RunError without rsvg-convert.
void write_pdf(const std::string& svg, std::ostream& out);

/// A film that ffmpeg makes as its pictures arrive, in a file without a name. write() copies it to the output once it
/// is known to be whole.
class Film {
  public:
    enum class Kind { mp4, gif };

    /// RunError without ffmpeg.
    Film(Kind kind, Size size, int fps);

    /// Throws Interrupted, like write().
    void add(const Picture& picture);
    /// Ends the film and writes it. RunError where ffmpeg has anything to complain of.
    void write(std::ostream& out);

  private:
    void end();

    NamelessFile film_, said_;
    std::optional<Program> ffmpeg_;
};

}  // namespace tilescope::gui::shell
