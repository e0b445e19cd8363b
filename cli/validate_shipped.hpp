// What `tilescope validate` says where nothing can run: the measurements that ship.
#pragma once

#include "cli/json.hpp"
#include "cli/validate_cases.hpp"
#include "device/measurements.hpp"

namespace tilescope::cli {

/// Keeps the rows that the flags ask for: of the algorithms, sizes, types and tiles that were given, and of each
/// problem the first tile only, unless --all-tiles or tiles are given.
void keep_asked(std::vector<device::MeasurementFile>& files, const ValidateFlags& flags);

/// A summary where nothing particular is asked for, or else the rows; or that there are none.
void print_shipped(const std::vector<device::MeasurementFile>& files, const ValidateFlags& flags);

/// Every row as an object.
Json to_json(const device::MeasurementFile& file);

}  // namespace tilescope::cli
