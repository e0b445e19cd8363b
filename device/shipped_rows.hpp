// What `tilescope validate` shows where nothing can run: the measurements that ship.
#pragma once

#include "core/text/table.hpp"
#include "device/device.hpp"
#include "device/measurements.hpp"
#include "device/validate_cases.hpp"
#include "lab/report/report_json.hpp"

namespace tilescope::device {

using MeasuredRows = std::vector<const MeasuredRow*>;

/// Whether any flag chooses rows.
bool asks(const ValidateFlags& flags);
/// Keeps the rows that the flags ask for: those of the given algorithms, sizes, types and tiles. Of each problem keeps
/// only the first tile, unless --all-tiles or tiles are given.
void keep_asked(std::vector<MeasurementFile>& files, const ValidateFlags& flags);

/// The rows of each machine, and when and where they were measured: "2026-11-21, NVIDIA H200; driver ...".
std::vector<std::pair<std::string, MeasuredRows>> by_place(const std::vector<MeasurementFile>& files);
/// A row for each algorithm, in the order of the registry, and type, f32 first.
text::Table summary_table(const MeasuredRows& measured);
/// Each row: its times, or its counters.
text::Table rows_table(const MeasuredRows& measured, bool counters);
/// Says that nothing matches, and what was measured of these algorithms.
std::string about_none(const ValidateFlags& flags);

/// What is missing to run kernels, and every row of the files as an object.
lab::Json to_json(const DeviceSearch& search, const std::vector<MeasurementFile>& files);

}  // namespace tilescope::device
