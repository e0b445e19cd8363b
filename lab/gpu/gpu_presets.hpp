// The GPUs that TileScope knows by name, and those that users describe in a JSON file of their own.
//
// A file is one JSON object with the keys of GpuSpec. Every number is plain ("sms": 108) or says where it comes from
// ("sms": {"value": 108, "unit": "SMs", "source": "...", "confirmed": false}), and is null where a number may be
// unknown. "base": "A100-40GB" takes every number that the file leaves out from that preset, "base": "mine.json" from
// another file, whose path is relative to this one's folder; without a base all of them must be there. gpus/*.json are
// such files. docs/gpus.md explains them.
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
/// if it is the beginning of only one: "a100-40gb", "RTX 3090", "h100". So is what the driver calls the device: "NVIDIA
/// H100 80GB HBM3". "a100" means A100-40GB, the device of the first FlashAttention paper. Throws UsageError, which
/// lists the names and suggests the nearest.
GpuSpec gpu_preset(std::string_view name);

/// What `--gpu` accepts: the path of a file, recognised by its ".json" or by a '/', what such a file may say,
/// recognised by its '{', or else the name of a preset.
GpuSpec load_gpu(const std::string& name_or_path);

/// The GPU that a JSON text describes; `where` is how error messages call the text. With a "base" but no name of its
/// own, the GPU is called "<base> (changed)". Throws UsageError.
GpuSpec parse_gpu(std::string_view json_text, std::string_view where);

/// The same of a recording, which is read back as it was made: numbers in it may contradict each other.
GpuSpec recorded_gpu(std::string_view json_text, std::string_view where);

/// A GPU with the numbers and texts of a JSON object, and the numbers that follow from them. Throws UsageError.
GpuSpec changed_gpu(const GpuSpec& gpu, std::string_view json_text);

/// Whether it has a preset's name but other numbers, because flags changed them.
bool is_changed_preset(const GpuSpec& spec);

}  // namespace tilescope::lab
