// A run as a row of a table: how it was asked for, and every number that it has.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/report/metric.hpp"
#include "lab/study/study.hpp"

namespace tilescope::lab {

/// The outcome of a run, and how it was asked for.
struct RunRow {
    std::string variant;
    std::string model, phase;  ///< empty without --model
    Outcome outcome;
};

/// Every column in order, the same for all rows; nothing where a run has no value. docs/outputs.md explains them.
std::vector<std::pair<const char*, MetricValue>> columns_of(const RunRow& row);

}  // namespace tilescope::lab
