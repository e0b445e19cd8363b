// What `tilescope validate` prints.
#pragma once

#include <span>

#include "cli/json.hpp"
#include "device/device.hpp"
#include "device/measurements.hpp"

namespace tilescope::cli {

/// "NVIDIA H200: 132 SMs, ..."
std::string device_text(const device::Device& device);

/// Errors and times of cases of the same problem.
void print_values(std::span<const device::CaseResult> group);
/// Simulated and measured traffic and arithmetic of one case.
void print_counters(const device::CaseResult& result);

Json to_json(const device::Device& device);
/// The columns of the CSV, and why the case is not ok.
Json to_json(const device::CaseResult& result);

/// A cell of the CSV as a number, a text, or null where it is empty or no finite number.
Json value_of(const std::string& cell);

}  // namespace tilescope::cli
