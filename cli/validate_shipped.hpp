// What `tilescope validate` says where nothing can run: the measurements that ship.
#pragma once

#include "cli/json.hpp"
#include "cli/validate_cases.hpp"
#include "device/measurements.hpp"

namespace tilescope::cli {

/// Keeps the rows that the flags ask for: those of the given algorithms, sizes, types and tiles. Of each problem keeps
/// only the first tile, unless --all-tiles or tiles are given.
void keep_asked(std::vector<device::MeasurementFile>& files, const ValidateFlags& flags);

/// Prints a summary where no flag chooses rows, else the rows, or that there are none.
void print_shipped(const std::vector<device::MeasurementFile>& files, const ValidateFlags& flags);

/// Every row as an object.
Json to_json(const device::MeasurementFile& file);

}  // namespace tilescope::cli
