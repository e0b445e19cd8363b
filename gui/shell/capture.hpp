// Pictures and films of the window, for slides and pages.
#pragma once

#include <optional>

#include "gui/shell/native.hpp"
#include "gui/shell/window.hpp"

namespace tilescope::gui::shell {

/// Writes a PNG. RunError when it cannot.
void write_png(const Picture& picture, const std::string& path);

/// A film that ffmpeg makes as its pictures arrive; its kind follows from the file's ending: .mp4 or .gif.
class Film {
  public:
    /// UsageError for another ending; RunError without ffmpeg or where `path` cannot be written.
    Film(std::string path, Size size, int fps);
    ~Film();
    Film(const Film&) = delete;
    Film& operator=(const Film&) = delete;

    void add(const Picture& picture);
    /// Ends the film and puts it in its place. Without it there is none.
    void commit();

  private:
    std::string path_, temporary_;
    std::optional<Reader> ffmpeg_;
};

}  // namespace tilescope::gui::shell
