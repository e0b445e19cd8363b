// Writes a film while the window goes on: this program, started once more, writes the film as on a command line. So no
// frame waits for a picture, nothing that is shown changes, and there is one way to make a film.
#pragma once

#include <memory>

#include "gui/app.hpp"
#include "gui/shell/window.hpp"

namespace tilescope::gui::shell {

class FilmBeside {
  public:
    FilmBeside();
    /// Ends the program that writes a film. No part of the film is left.
    ~FilmBeside();

    /// To be called after every frame. Begins the film that files.filming asks for, notes its progress, and ends it
    /// when the user cancels it. Returns a message once the film is over, else an empty text.
    std::string work(Files& files, Size size);

  private:
    struct Writer;
    std::unique_ptr<Writer> writer_;
};

}  // namespace tilescope::gui::shell
