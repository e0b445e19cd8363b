#include "lab/model/launch_memory.hpp"

#include <algorithm>
#include <cmath>

namespace tilescope::lab {

double sharing_at_first(Count blocks, Index slots, Index sms, Style style) {
    const auto chip = static_cast<double>(sms), all = static_cast<double>(blocks);
    if (style == Style::cuda_cores || blocks > sms * slots) return std::min(chip, all);
    return all / std::ceil(all / chip);
}

LaunchMemory memory_of(double sharing, Index sms, const Rates& rates, double clock_mhz, Style style) {
    const auto chip = static_cast<double>(sms);
    const auto per_clock = [&](double gbs) { return gbs * 1e3 / clock_mhz; };
    const DramRates dram = dram_of(rates, style);
    return {{rates.l2 / chip, per_clock(dram.read) / chip, per_clock(dram.write) / chip, 0, 0, sharing / chip}};
}

void set_misses(LaunchMemory& memory, const DramModel::Traffic& traffic, const Counters& sent) {
    const auto missed = [](Bytes dram, Bytes all) {
        return all > 0 ? static_cast<double>(dram) / static_cast<double>(all) : 0;
    };
    memory.reads_missed = missed(traffic.again.read, sent.hbm_read);
    memory.first_missed = std::min(1.0, missed(traffic.again.read, traffic.first.read));
    memory.writes_missed = missed(traffic.again.written, sent.hbm_sent());
}

}  // namespace tilescope::lab
