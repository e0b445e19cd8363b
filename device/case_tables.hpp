// Cases that ran on the device, as tables, text and JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/text/table.hpp"
#include "device/device.hpp"
#include "device/measurements.hpp"
#include "lab/report/report_json.hpp"

namespace tilescope::device {

/// "NVIDIA H200: 132 SMs, ..."
std::string device_text(const Device& device);
/// "16 x 64, S 7, packed 4"; without parts and packing where there are none.
std::string tiles_of(const Tiling& tiling, Index packed);
/// "128 x 128, turns off": tiles, and other_roles(); the tiles alone where these are empty.
std::string with_roles(const std::string& tiles, const std::string& roles);
std::string tiles_of(const KernelCase& c);
/// How far `measured` is from `simulated`, in percent; nullopt where one is absent, or `simulated` is 0.
std::optional<double> percent_off(const std::optional<double>& measured, const std::optional<double>& simulated);
/// "+0.13%"; "" where x is absent.
std::string signed_percent(const std::optional<double>& x);

/// The errors of cases of one problem.
text::Table errors_table(std::span<const CaseResult> group);
/// The times of the cases that were timed.
text::Table times_table(std::span<const CaseResult> group);
/// Simulated and measured traffic and arithmetic of a case that was measured.
text::Table counters_table(const CaseResult& result);
/// Lines on thread blocks and shared memory, of a case that was measured.
std::string on_chip_text(const CaseResult& result);

lab::Json to_json(const Device& device, std::span<const CaseResult> results);
/// A cell of the CSV as a number, a text, or null where it is empty or no finite number.
lab::Json value_of(const std::string& cell);

}  // namespace tilescope::device
