// What the NVIDIA driver tells in files: to builds without CUDA, too, and without waking a GPU.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tilescope::device {

/// The names of the GPUs, as in "NVIDIA H100 80GB HBM3".
std::vector<std::string> gpus_of_driver(const std::filesystem::path& folder = "/proc/driver/nvidia/gpus");

enum class CountersOpen { to_everyone, to_root, unknown };
/// Who may read hardware counters.
CountersOpen counters_open(const std::filesystem::path& file = "/proc/driver/nvidia/params");

}  // namespace tilescope::device
