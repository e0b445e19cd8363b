// The headline of the wall at a tick of a run.
#pragma once

#include <string>

#include "show/stage/wall_headline.hpp"
#include "show/stage/wall_text.hpp"

namespace tilescope::show {

inline std::string headline(Run& run, const Wall& wall, Index tick, Index focus = 0) {
    run.seek(tick);
    return plain(wall_headline(run, wall, painters(run, wall), focus));
}

}  // namespace tilescope::show
