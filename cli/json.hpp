// JSON as the subcommands print it.
#pragma once

#include "lab/report/report_json.hpp"

namespace tilescope::cli {

using lab::Json;
using lab::to_json;

}  // namespace tilescope::cli
