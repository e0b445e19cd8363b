#include "lab/flags/gpu.hpp"

#include <cmath>
#include <string_view>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/flags/in_flags.hpp"
#include "lab/gpu/gpu_fields.hpp"
#include "lab/gpu/gpu_presets.hpp"

namespace tilescope::lab {
using text::message;

GpuSpec gpu_from(const Options& o) {
    const GpuSpec before = in_flags([&] { return load_gpu(o.gpu); });
    GpuSpec g = before;
    if (o.sms) {
        if (*o.sms < 1 || *o.sms > 1'000'000) throw UsageError(message("request.no_sms", std::to_string(*o.sms)));
        g.sms = *o.sms;
    }
    if (o.sram_kib) {
        if (!(*o.sram_kib > 0) || *o.sram_kib > 1e6)
            throw UsageError(message("request.no_sram", text::number(*o.sram_kib)));
        // The bytes of SRAM that the system takes from every thread block stay as on this GPU.
        const Bytes reserved = g.system_sram();
        g.sram_per_sm = static_cast<Bytes>(std::llround(*o.sram_kib * 1024));
        if (g.sram_per_sm <= reserved)
            throw UsageError(
                message("request.sram_is_reserved", text::number(*o.sram_kib), g.name, std::to_string(reserved)));
        g.sram_per_block = g.sram_per_sm - reserved;
    }
    if (o.hbm_bandwidth) {
        if (!(*o.hbm_bandwidth > 0) || *o.hbm_bandwidth > 1e9)
            throw UsageError(message("request.no_bandwidth", text::number(*o.hbm_bandwidth)));
        g.hbm_gbs = *o.hbm_bandwidth;
    }
    scale_what_follows(g, before, [&](std::string_view key) {
        return (key == "sms" && o.sms) || (key.starts_with("sram_per_") && o.sram_kib) ||
               (key == "hbm_gbs" && o.hbm_bandwidth);
    });
    g.l2_bytes = o.l2 ? o.l2_bytes.value_or(g.l2_bytes) : 0;
    return g;
}

}  // namespace tilescope::lab
