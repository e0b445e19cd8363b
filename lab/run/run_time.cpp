#include "lab/run/run_time.hpp"

#include <algorithm>
#include <numeric>

namespace tilescope::lab {

const char* name_of(Bound bound) {
    constexpr const char* names[] = {"launch", "blocks", "tensor", "fma",  "exp",
                                     "alu",    "sram",   "l2",     "dram", "dependency"};
    return names[static_cast<std::size_t>(bound)];
}

double RunTime::us() const {
    return std::accumulate(launches.begin(), launches.end(), 0.0,
                           [](double s, const LaunchTime& l) { return s + l.us; });
}

bool RunTime::spills() const {
    return std::any_of(launches.begin(), launches.end(), [](const LaunchTime& l) { return l.spills; });
}

std::string why_infeasible(bool spills) {
    return spills ? "registers would spill: no kernel would run like that, or as fast" : "";
}

const char* name_of(ResidencyLimit limit) {
    constexpr const char* names[] = {"shared memory", "registers", "warps", "thread blocks", "--blocks-per-sm"};
    return names[static_cast<std::size_t>(limit)];
}

std::string limited_by(const LaunchTime& l) {
    return name_of(l.residency.limit) + std::string(l.spills ? " (would spill)" : l.compiled ? "" : " (estimated)");
}

const LaunchTime& RunTime::longest() const {
    return *std::max_element(launches.begin(), launches.end(),
                             [](const auto& a, const auto& b) { return a.us < b.us; });
}

std::optional<DramTraffic> RunTime::dram() const {
    DramTraffic sum;
    for (const LaunchTime& l : launches) {
        if (!l.dram) return std::nullopt;
        sum.read += l.dram->read, sum.written += l.dram->written;
    }
    return sum;
}

const char* name_of(Basis basis) {
    constexpr const char* names[] = {"own_style", "other_style", "assumed"};
    return names[static_cast<std::size_t>(basis)];
}

}  // namespace tilescope::lab
