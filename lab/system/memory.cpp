#include "lab/system/memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

namespace tilescope::lab {
namespace {

namespace fs = std::filesystem;

constexpr Bytes no_limit = std::numeric_limits<Bytes>::max();

/// The number after the word `key` in a file; without a key, the number that the file begins with.
std::optional<Bytes> number_in(const fs::path& file, const std::string& key = "") {
    std::ifstream in(file);
    std::string word;
    while (!key.empty() && in >> word && word != key) {
    }
    Bytes n = 0;
    return in >> n ? std::optional(n) : std::nullopt;
}

Bytes kibibytes_in(const fs::path& file, const std::string& key, Bytes otherwise) {
    const auto n = number_in(file, key);
    return n ? *n * 1024 : otherwise;
}

/// The files of a control group, by the version of the interface.
struct GroupFiles {
    const char *mount, *limit, *used, *cached;  ///< `cached`: key in memory.stat of bytes that are freed when needed
};
constexpr GroupFiles version_1 = {"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_inactive_file"};
constexpr GroupFiles version_2 = {"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

Bytes left_in(const fs::path& group, const GroupFiles& files) {
    const auto limit = number_in(group / files.limit), used = number_in(group / files.used);
    if (!limit || !used) return no_limit;
    return *limit - *used + number_in(group / "memory.stat", files.cached).value_or(0);
}

/// The least that is left in the process's group and the groups around it, because each group limits all within. A
/// container may show its own group as the outermost under the host's name for it; no folder below has that name then.
Bytes left_in_groups(const fs::path& root) {
    Bytes left = no_limit;
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {  // "4:cpu,memory:/group", or in version 2 "0::/group"
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
        if (controllers != ",," && controllers.find(",memory,") == std::string::npos) continue;
        const GroupFiles& files = controllers == ",," ? version_2 : version_1;
        fs::path group = fs::path(line.substr(second + 1)).relative_path();
        for (; !group.empty(); group = group.parent_path())
            left = std::min(left, left_in(root / files.mount / group, files));
        left = std::min(left, left_in(root / files.mount, files));
    }
    return left;
}

Bytes left_of_limit(decltype(RLIMIT_AS) resource, Bytes used) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur >= static_cast<rlim_t>(no_limit)) return no_limit;
    return static_cast<Bytes>(limit.rlim_cur) - used;
}

}  // namespace

Bytes memory_left(const std::string& root) {
    const fs::path at(root), status = at / "proc/self/status";
    const Bytes left = std::min({kibibytes_in(at / "proc/meminfo", "MemAvailable:", no_limit), left_in_groups(at),
                                 left_of_limit(RLIMIT_AS, kibibytes_in(status, "VmSize:", 0)),
                                 left_of_limit(RLIMIT_DATA, kibibytes_in(status, "VmData:", 0))});
    return std::max<Bytes>(left, 0);
}

bool fits_in_memory(Bytes needed) { return needed <= memory_left() / 10 * 9; }

}  // namespace tilescope::lab
