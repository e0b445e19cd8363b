// A film that the window asked for, while the window goes on: this program, started once more, writes it as it does on
// a command line. So no frame waits for a picture, nothing that is shown changes, and there is one way to make a film.
#pragma once

#include <memory>

#include "gui/app.hpp"
#include "gui/shell/window.hpp"

namespace tilescope::gui::shell {

class FilmBeside {
  public:
    FilmBeside();
    /// Ends the writer; no part of a film is left.
    ~FilmBeside();

    /// After a frame: begins the film that files.filming asks for, notes how far it is, and cancels it when asked.
    /// Returns a message once it is over, else nothing.
    std::string work(Files& files, Size size);

  private:
    struct Writer;
    std::unique_ptr<Writer> writer_;
};

}  // namespace tilescope::gui::shell
