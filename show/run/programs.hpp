// The source files of the tile programs, which the window shows.
#pragma once

#include "core/text/embedded.hpp"

namespace tilescope::show {

/// The files of algorithms/*/*/simulated.cpp and passes.cpp, and the steps that programs share, named by their paths.
std::span<const EmbeddedFile> embedded_programs();

}  // namespace tilescope::show
