#include "lab/model/warm.hpp"

#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// The time in which DRAM is busy.
double us_at_dram(const RunTime& run) {
    double us = 0;
    for (const LaunchTime& l : run.launches) us += l.busy[static_cast<std::size_t>(Unit::dram)] * l.us;
    return us;
}

}  // namespace

double kept_by_l2(const Report& r) {
    // Smaller data need not be kept either: partitions that hold copies have room for less than the L2's size.
    if (!r.time || r.hbm_footprint > r.experiment.gpu.l2_bytes) return 0;
    Bytes first = 0, again = 0;
    for (const LaunchTime& l : r.time->launches) {
        if (!l.dram || !l.dram_again) return 0;
        first += l.dram->total(), again += l.dram_again->total();
    }
    return first > again ? 1 - static_cast<double>(again) / static_cast<double>(first) : 0;
}

bool is_warm(const Report& r) { return kept_by_l2(r) > 0.5; }

std::string about_warm(const Report& r) {
    if (!is_warm(r)) return "";
    const double kept = kept_by_l2(r);
    const std::string touched = text::bytes(r.hbm_footprint);
    return text::sentences(
        {kept < nearly_all_kept ? message("verdict.warm_in_part", text::percent(kept), touched)
                                : message("verdict.warm", touched),
         message("verdict.dram_of_warm_time", cold_traffic(), text::percent(us_at_dram(*r.time) / r.time->us()))});
}

std::string cold_traffic() { return message("verdict.cold_traffic"); }

}  // namespace tilescope::lab
