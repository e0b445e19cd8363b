#include "device/driver.hpp"

#include <fstream>

#include "core/text/words.hpp"

namespace tilescope::device {
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

}  // namespace tilescope::device
