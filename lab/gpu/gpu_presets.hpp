// The GPUs that TileScope knows by name, and those that users describe in a JSON file of their own.
//
// A file is one JSON object with the keys of GpuSpec. Every number is plain ("sms": 108) or says where it comes from
// ("sms": {"value": 108, "unit": "SMs", "source": "...", "confirmed": false}), and is null where a number may be
// unknown. "base": "A100-40GB" takes every number that the file leaves out from that preset, "base": "mine.json" from
// another file, whose path is relative to this file's folder; without a base every number must be there. gpus/*.json
// are such files. docs/gpus.md explains them.
//
// Every error is a BadValue with one line: `gpu FILE: key: what is wrong: what is allowed`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/gpu_spec.hpp"
#include "core/text/embedded.hpp"

namespace tilescope::lab {

/// The files of gpus/*.json, in no particular order.
std::span<const EmbeddedFile> embedded_gpus();

/// Names of the presets by compute capability, oldest first, those without one ("toy") last.
std::vector<std::string> gpu_preset_names();

/// The preset of that name. Case, spaces, dashes and underscores do not matter, and the beginning of a name is enough
/// if it is the beginning of only one: "a100-40gb", "RTX 3090", "h100". The driver's name is accepted, too: "NVIDIA
/// H100 80GB HBM3". "a100" means A100-40GB, the device of the first FlashAttention paper. Throws UsageError, which
/// lists the names and suggests the nearest.
GpuSpec gpu_preset(std::string_view name);

/// The GPU that an argument of `--gpu` names: the path of a file (ends in ".json" or contains a '/'), the text of such
/// a file (begins with '{'), or else the name of a preset.
GpuSpec load_gpu(const std::string& name_or_path);

/// The GPU that a JSON text describes; `where` is how error messages call the text. With a "base" but no name of its
/// own, the GPU is called "<base> (changed)". Throws UsageError.
GpuSpec parse_gpu(std::string_view json_text, std::string_view where);

/// parse_gpu() for the GPU of a recording. Its numbers may contradict each other: they stay as they were recorded.
GpuSpec recorded_gpu(std::string_view json_text, std::string_view where);

/// A GPU with the numbers and texts of a JSON object, and the numbers that follow from them. Throws UsageError.
GpuSpec changed_gpu(const GpuSpec& gpu, std::string_view json_text);

/// Whether `spec` has a preset's name but other numbers, because flags changed them.
bool is_changed_preset(const GpuSpec& spec);

}  // namespace tilescope::lab
