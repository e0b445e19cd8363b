// A command line read by CLI11, with this project's words for what is wrong with it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tilescope::lab {

/// Reads the words that follow the program's name, and carries out what they ask for. Throws a UsageError, one line
/// with a fix, where they cannot be understood; --help and --version end with a CLI::Success.
void parse(CLI::App& app, std::vector<std::string> words);
void parse(CLI::App& app, int argc, const char* const* argv);

}  // namespace tilescope::lab
