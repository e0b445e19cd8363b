// GPUs written as JSON texts, and their numbers for people to read, with the sources.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/gpu_spec.hpp"

namespace tilescope::lab {

/// A plain JSON text without sources, which parse_gpu reads back to an equal spec.
std::string gpu_json(const GpuSpec& spec);

/// Where a number comes from. `confirmed` is false where it was written from memory, or where sources conflict.
struct GpuOrigin {
    std::string source;
    bool confirmed = true;
};
using GpuOrigins = std::map<std::string, GpuOrigin>;  ///< by field of GpuSpec

/// gpu_json() with units and sources.
std::string gpu_sheet_json(const GpuSpec& spec, const GpuOrigins& origins);
/// gpu_sheet_json() of the GPU that an argument of `--gpu` names. `--gpu` accepts the result, too.
std::string gpu_sheet_json(const std::string& name_or_path);

/// One number of a GPU for people to read.
struct GpuNumber {
    std::string key;     ///< the field of GpuSpec
    std::string unit;    ///< e.g. "B", "GB/s"
    std::string value;   ///< "unknown" for null
    std::string source;  ///< "not given" where the file does not say
    bool confirmed;
};

/// All numbers of a GPU that `--gpu` accepts, in the order of GpuSpec.
std::vector<GpuNumber> gpu_numbers(std::string_view preset_or_path);

}  // namespace tilescope::lab
