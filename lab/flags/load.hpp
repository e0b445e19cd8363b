// The flag that loads files of one's own.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace tilescope::lab {

/// Adds --load, which adds the algorithms of a file as soon as it is read: before other flags, where those name them.
void add_load_option(CLI::App& app);

}  // namespace tilescope::lab
