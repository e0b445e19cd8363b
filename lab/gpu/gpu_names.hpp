// What drivers and people call devices.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/units.hpp"

namespace tilescope::lab {

/// A device's name without maker and brand: "NVIDIA GeForce RTX 4090" as "RTX 4090".
std::string_view without_brand(std::string_view name);

/// A part of a GPU, which NVIDIA's drivers call "NVIDIA A100-SXM4-40GB MIG 1g.5gb".
struct MigSlice {
    std::string_view whole;  ///< what the GPU is called
    Index sevenths;          ///< of the whole GPU's SMs, roughly; 0 where the name does not say it
    Index gb;                ///< of memory
};
std::optional<MigSlice> mig_slice(std::string_view name);

/// The preset of exactly the device that has this driver name; empty where there is none. Other devices of its family
/// differ in SMs, clocks or memory.
std::string preset_of_driver_name(std::string_view name, const std::vector<std::string>& presets);

/// The presets that a name may mean, whatever its spelling: the one with this preset or driver name, or else all whose
/// preset or driver name begins with it.
std::vector<std::string> presets_meant(std::string_view name, const std::vector<std::string>& presets);

/// "did you mean NAME?"; empty where no name is close. Only names with the same first letter are proposed: others are
/// of another family.
std::string preset_suggested(std::string_view name, const std::vector<std::string>& presets);

}  // namespace tilescope::lab
