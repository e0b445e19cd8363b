// What every program does for its user: the right exit code, and a line about an error.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace tilescope::lab {

/// What the programs' exit codes mean, for --help.
std::string exit_codes();

/// Carries out what the arguments ask of the program, and returns the exit code. `purpose` is the message that says
/// what the program is for. `describe` adds its flags, and the callbacks that do the work. An error becomes one line on
/// standard error. A closed pipe, as in `tilescope list | head -1`, is no error, and nothing is printed.
int carry_out(const char* name, const char* purpose, const std::function<void(CLI::App&)>& describe, int argc,
              char** argv);

}  // namespace tilescope::lab
