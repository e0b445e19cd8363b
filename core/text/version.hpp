// The number of this TileScope.
#pragma once

namespace tilescope::text {

/// "0.1.0".
const char* version();

}  // namespace tilescope::text
