#include "core/text/version.hpp"

namespace tilescope::text {

const char* version() { return TILESCOPE_VERSION; }

}  // namespace tilescope::text
