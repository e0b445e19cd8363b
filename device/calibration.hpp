// Makes a GPU for the time model from the microbenchmarks' readings and the driver's numbers.
#pragma once

#include "device/microbenchmarks.hpp"
#include "lab/gpu/gpu_json.hpp"

namespace tilescope::device {

/// A rate as it was measured, beside what else is known of it.
struct MeasuredRate {
    std::string key;              ///< the field of GpuSpec
    double value = 0;             ///< to four digits
    std::optional<double> sheet;  ///< what the data sheet says in its place
    std::string how;
    bool written = true;  ///< false for a check: the data sheet's number stays
};

struct Calibration {
    GpuSpec spec;
    lab::GpuOrigins origins;
    std::vector<MeasuredRate> rates;
    std::string preset;  ///< whose data-sheet numbers `spec` has; "" where none describes the device
};

/// The preset that describes this very device, or "".
std::string preset_of(const Device& device);

/// The driver's numbers replace the preset's; rates stand beside the data sheet's. Without a preset, numbers that can
/// be neither asked nor measured are derived from the others; origins say how, and that they are not confirmed.
Calibration calibrate(const Device& device, const Readings& readings, const std::string& date);

}  // namespace tilescope::device
