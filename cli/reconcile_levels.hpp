// Hardware counters of a kernel beside the model's numbers of the same shape and tiles, level by level.
#pragma once

#include <string>
#include <vector>

#include "cli/json.hpp"
#include "device/causes.hpp"
#include "device/ncu.hpp"

namespace tilescope::cli {

/// What one counter says, and the model.
struct Level {
    std::string name;    ///< "SM traffic, read"
    const char* metric;  ///< Nsight Compute's
    double factor;       ///< what one of the metric is
    const char* unit;    ///< of the numbers: bytes, operations or microseconds
    bool counted;        ///< by the model; else modelled
    double model, measured;
    std::vector<device::Cause> causes;  ///< of the difference, where formulas are known

    double beyond() const { return measured - model; }
    /// What the causes leave of the difference.
    double left() const;
    /// In percent of the model's number; nullopt where that is 0.
    std::optional<double> percent(double amount) const;
};

/// What can be compared of this run. UsageError naming the metric where one is missing.
std::vector<Level> levels_of(const lab::Report& report, std::span<const device::NcuLaunch> launches, Index runs);

Json to_json(const Level& level);

}  // namespace tilescope::cli
