#include "lab/flags/describe.hpp"

#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/pass_lists.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/run/covers.hpp"
#include "lab/workload/paging.hpp"

namespace tilescope::lab {

std::string about_scores(const Problem& p) {
    std::string s;
    if (p.uses(Feature::score_types))
        s += std::string(", S in ") + name_of(p.score_type()) + ", P in " + name_of(p.weight_type());
    if (!p.passes.empty()) s += ", passes " + name_of(p.passes);
    if (p.soft_cap) s += ", soft-cap " + text::number(*p.soft_cap);
    if (p.bias) s += ", bias " + p.bias.name();
    if (p.bias.has_groups()) s += " (groups of " + std::to_string(p.bias.group) + ")";
    if (p.alibi > 0) s += std::string(", ALiBi") + (p.mask.hides() ? "" : corner_words(p));
    if (p.dropout) s += ", dropout " + text::number(p.dropout.p) + (p.dropout.stored ? " with a stored mask" : "");
    return s;
}

std::string describe(const Problem& given, const Computation& computation) {
    const Problem p = unpacked(given);
    const auto n = [](Index i) { return std::to_string(i); };
    if (!computation.features.has(Feature::head_dims))
        return n(p.batch_heads()) + " x [" + n(p.seq_q) + " x " + n(p.seq_k) + "], " + name_of(p.dtype);
    std::string s = "batch " + n(p.batch) + ", heads " + n(p.heads);
    if (p.kv_heads != p.heads) s += " (" + n(p.kv_heads) + " of K, V)";
    s += p.seq_q == p.seq_k ? ", seq " + n(p.seq_q) : ", seq_q " + n(p.seq_q) + ", seq_k " + n(p.seq_k);
    s += p.dim == p.dim_v ? ", dim " + n(p.dim) : ", dim " + n(p.dim) + ", dim_v " + n(p.dim_v);
    if (p.pages) s += ", " + about_pages(p);
    return s + ", " + name_of(p.dtype) + (p.mask.hides() ? ", " + mask_words(p) : "") + ", scale " +
           text::number(static_cast<double>(p.logit_scale())) + about_scores(p);
}

std::string describe(const Request& r, const Computation& computation) {
    return (r.model.empty() ? "" : r.model + ", " + r.phase + ": ") + describe(r.problem, computation);
}

std::string beside_ideal(const Report& r) {
    const auto ideal = r.idealised();
    if (!ideal) return "";
    const Bytes counted = ideal->count.hbm_read + ideal->count.hbm_write, executed = r.counters.hbm();
    const std::string both = std::string(ideal->name) + " counts " + text::bytes(counted) + ", executed here: ";
    return both + (counted == executed ? "the same." : text::bytes(executed) + ";\n  " + ideal->why + '.');
}

std::string describe(const GpuSpec& g) {
    return g.title + (is_changed_preset(g) ? " (changed): " : ": ") + std::to_string(g.sms) +
           " SMs; a thread block may use " + text::binary_bytes(g.sram_per_block) + " of SRAM and " +
           text::binary_bytes(g.registers_per_sm) + " of registers; HBM " + text::bytes(g.hbm_gbs * 1e9) + "/s";
}

}  // namespace tilescope::lab
