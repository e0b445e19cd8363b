// The tile programs as they are written, to be shown.
#pragma once

#include "core/text/embedded.hpp"

namespace tilescope::show {

/// The files of algorithms/*/*/simulated.cpp and passes.cpp, and steps that programs share, named by their paths.
std::span<const EmbeddedFile> embedded_programs();

}  // namespace tilescope::show
