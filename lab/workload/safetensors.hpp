// Hugging Face's .safetensors files: named tensors behind a header in JSON.
#pragma once

#include <string>
#include <string_view>

#include "core/machine/mode.hpp"
#include "lab/workload/array_file.hpp"

namespace tilescope::lab {

/// Whether a path names a tensor of such a file: "FILE.safetensors", or "FILE.safetensors:NAME".
bool is_safetensors(std::string_view path);

/// Reads the tensor that the path names; else the one that is called `usual`, in small letters or capitals; else the
/// only one. F64, F32, F16, BF16, F8_E4M3, F8_E5M2, I8 and BOOL, where `whole` says so also whole numbers as a mask.
/// Other tensors of the file are not read, so it may be larger than memory. Anything else is a UsageError that names
/// the path, what is wrong and a fix. Throws Interrupted.
FileArray read_safetensors(const std::string& path, std::string_view usual, Control* control = nullptr,
                           WholeNumbers whole = WholeNumbers::unknown);

}  // namespace tilescope::lab
