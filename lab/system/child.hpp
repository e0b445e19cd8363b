// Another program, run to its end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/machine/mode.hpp"

namespace tilescope::lab {

/// A running program, and the pipe through which all its output comes. The destructor ends the program.
class Child {
  public:
    /// Starts `command`: a program and its arguments. Throws RunError where it cannot be run.
    explicit Child(std::vector<std::string> command);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// Appends the next output to `text`; false where the output has ended. Throws Interrupted.
    bool read_more(std::string& text, const Control* control);
    /// Waits for the end of the program, and returns its status as waitpid() has it.
    int wait();

  private:
    int pipe_ = -1;
    int process_ = 0;
};

/// The path of the first such program on PATH; nullopt where there is none.
std::optional<std::string> found_on_path(const std::string& program);
inline bool on_path(const std::string& program) { return found_on_path(program).has_value(); }

}  // namespace tilescope::lab
