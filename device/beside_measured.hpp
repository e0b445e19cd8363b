// What `compare` prints below its table: times that PyTorch was measured to take for the same problem, or the nearest.
#pragma once

#include <span>

#include "core/text/table.hpp"
#include "lab/report/report_json.hpp"
#include "lab/study/conclusion.hpp"

namespace tilescope::device {

/// A sentence or two, and a table; both are empty where the rows are not one problem of attention on one GPU.
struct BesideMeasured {
    std::vector<std::string> before;
    std::optional<text::Table> table;
    lab::Json json;  ///< null where there is no table
};
BesideMeasured beside_measured(std::span<const lab::Contender> rows);

}  // namespace tilescope::device
