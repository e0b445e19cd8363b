// What files of the NVIDIA driver say. They are read without CUDA, and without waking a GPU.
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

/// What decides whether this process may read counters that are open to root.
struct Rights {
    bool root = false;
    bool admin = false;       ///< the capability SYS_ADMIN, which the driver asks for: root of a container may lack it
    bool in_windows = false;  ///< under WSL, where the driver of Windows decides
};
Rights rights(const std::filesystem::path& proc = "/proc");
/// How this process can get to read hardware counters, as a part of a sentence.
std::string how_to_read_counters(const Rights& r);

}  // namespace tilescope::device
