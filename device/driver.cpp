#include "device/driver.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <fstream>

#include "core/machine/counters.hpp"
#include "core/machine/mode.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::device {
using text::message;
namespace {

namespace fs = std::filesystem;

/// What follows "KEY:" in a file of such lines, without the spaces before it; empty where there is none.
std::string driver_says(const fs::path& file, const std::string& key) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key + ':')) {
            const std::size_t from = line.find_first_not_of(" \t", key.size() + 1);
            return from == line.npos ? "" : line.substr(from);
        }
    return "";
}

}  // namespace

std::vector<std::string> gpus_of_driver(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code none;
    for (fs::directory_iterator gpu(folder, none), end; gpu != end; gpu.increment(none))
        if (const std::string name = driver_says(gpu->path() / "information", "Model"); !name.empty())
            names.push_back(text::shown(name));
    return names;
}

CountersOpen counters_open(const fs::path& file) {
    const std::string only_root = driver_says(file, "RmProfilingAdminOnly");
    if (only_root == "0") return CountersOpen::to_everyone;
    return only_root == "1" ? CountersOpen::to_root : CountersOpen::unknown;
}

Rights rights(const fs::path& proc) {
    constexpr int sys_admin = 21;  // linux/capability.h
    std::uint64_t capabilities = 0;
    const std::string effective = driver_says(proc / "self" / "status", "CapEff");
    std::from_chars(effective.data(), effective.data() + effective.size(), capabilities, 16);
    std::string kernel;
    std::getline(std::ifstream(proc / "sys" / "kernel" / "osrelease"), kernel);
    const bool in_windows = kernel.find("microsoft") != kernel.npos || kernel.find("Microsoft") != kernel.npos;
    return {geteuid() == 0, (capabilities >> sys_admin & 1) != 0, in_windows};
}

std::string how_to_read_counters(const Rights& r) {
    return message(r.in_windows ? "driver.read_in_windows" : r.root ? "driver.read_as_root" : "driver.read");
}

}  // namespace tilescope::device
