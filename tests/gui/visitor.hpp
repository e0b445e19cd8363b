// A user who does anything at any time, in a window without a display.
#pragma once

#include <filesystem>

#include "tests/support/choices.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/headless.hpp"
#include "tests/support/situations.hpp"

namespace tilescope::gui {

/// Saves and opens in a folder of its own, which is the current folder as long as the visitor exists.
class Visitor {
  public:
    explicit Visitor(Choices& choices);
    ~Visitor();
    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;

    /// Does something and draws a frame. Returns a line on what must hold and does not, or "". The same choices have
    /// the same effects: what takes long to make is waited for or cancelled at once.
    std::string act();
    /// The command that shows the current state.
    std::string shown() const { return show::shell_command(h_.app.shown.state()).substr(0, 1000); }

  private:
    void do_something();
    void move();
    void press_button();
    void click(const ImVec4& at);
    void click_place();
    void type();
    void key();
    void resize();
    void change_flag();
    void look_elsewhere();
    void play();
    void save_or_open();
    std::string draw(double seconds);
    std::string wrong() const;
    void settle();

    Choices& choices_;
    Folder folder_;
    std::filesystem::path before_;
    std::vector<Situation> situations_;
    Headless h_;
    std::string told_;  // what went wrong during an event
};

}  // namespace tilescope::gui
