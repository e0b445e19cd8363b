// What `tilescope validate` prints.
#pragma once

#include <span>

#include "cli/json.hpp"
#include "device/device.hpp"
#include "device/measurements.hpp"

namespace tilescope::cli {

/// "NVIDIA H200: 132 SMs, ..."
std::string describe(const device::Device& device);

/// Errors and times of cases of the same problem.
void print_values(std::span<const device::CaseResult> group);
/// Simulated and measured traffic and arithmetic of one case.
void print_counters(const device::CaseResult& result);

Json to_json(const device::Device& device);
/// The columns of the CSV, and why the case is not ok.
Json to_json(const device::CaseResult& result);

/// The measurements that ship, or that none do: a summary, or all rows of the algorithms that are named.
void print_shipped(const std::vector<device::MeasurementFile>& files, const std::vector<std::string>& algorithms);
/// The same as JSON: every row as an object.
Json to_json(const device::MeasurementFile& file);

}  // namespace tilescope::cli
