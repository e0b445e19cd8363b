#include "lab/run/run_time.hpp"

#include <algorithm>
#include <numeric>

#include "core/text/message.hpp"

namespace tilescope::lab {
using text::message;

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

std::string why_infeasible(bool spills) { return spills ? message("run_time.infeasible") : ""; }

const char* name_of(ResidencyLimit limit) {
    constexpr const char* names[] = {"shared memory", "registers", "warps", "thread blocks", "--blocks-per-sm"};
    return names[static_cast<std::size_t>(limit)];
}

std::string limited_by(const LaunchTime& l) {
    const char* limit = name_of(l.residency.limit);
    if (l.spills) return message("run_time.would_spill", limit);
    return l.compiled ? limit : message("run_time.estimated", limit);
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
