#include "core/time/residency.hpp"

#include <algorithm>

namespace tilescope {

Residency residency(const BlockNeeds& needs, const GpuSpec& gpu) {
    constexpr Index threads = 32, unit = 256, bytes = 4, sub_cores = 4;  // per warp; allocation; register; SM
    using enum ResidencyLimit;
    Residency r{gpu.max_blocks_per_sm, thread_blocks};
    const auto limit = [&](Index blocks, ResidencyLimit what) {
        if (blocks < r.blocks) r = {std::max<Index>(blocks, 1), what};
    };
    if (needs.warps > gpu.max_warps_per_sm) return {0, warps};
    limit(gpu.max_warps_per_sm / needs.warps, warps);
    const Index per_warp = ceil_div(std::max<Index>(needs.registers, 1) * threads, unit) * unit * bytes;
    limit(gpu.registers_per_sm / sub_cores / per_warp * sub_cores / needs.warps, registers);
    if (needs.tiles > 0) limit(gpu.registers_per_sm / needs.tiles, registers);
    if (needs.shared > 0) limit(gpu.sram_per_sm / (needs.shared + gpu.system_sram()), shared_memory);
    return r;
}

}  // namespace tilescope
