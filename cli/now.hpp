// When something was measured.
#pragma once

#include <string>

namespace tilescope::cli {

/// "2026-11-22 09:30:00 UTC".
std::string utc_now();

}  // namespace tilescope::cli
