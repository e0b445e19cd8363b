#include "lab/flags/describe.hpp"

#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/pass_lists.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/run/covers.hpp"
#include "lab/workload/paging.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// What the problem does to scores: "ALiBi".
std::vector<std::string> done_to_scores(const Problem& p) {
    std::vector<std::string> all;
    if (p.uses(Feature::score_types))
        all.push_back(message("describe.score_types", name_of(p.score_type()), name_of(p.weight_type())));
    if (!p.passes.empty()) all.push_back(message("describe.passes", name_of(p.passes)));
    if (p.soft_cap) all.push_back(message("describe.soft_cap", text::number(*p.soft_cap)));
    if (p.sum_bits)
        all.push_back(*p.sum_bits == 0 ? message("describe.sums_in_f32") : message("describe.sum_bits", *p.sum_bits));
    if (p.p_scale != 1) all.push_back(message("describe.p_scale", std::to_string(p.p_scale)));
    if (p.stale_max != 0) all.push_back(message("describe.stale_max", text::number(p.stale_max)));
    if (p.bias.has_groups())
        all.push_back(message("describe.bias_of_groups", p.bias.name(), std::to_string(p.bias.group)));
    else if (p.bias)
        all.push_back(message("describe.bias", p.bias.name()));
    if (p.alibi > 0) {
        const bool top_left = p.corner == Corner::top_left && !p.mask.hides();
        all.push_back(message(top_left ? "describe.alibi_from_top_left" : "describe.alibi"));
    }
    if (p.dropout)
        all.push_back(message(p.dropout.stored ? "describe.dropout_with_stored_mask" : "describe.dropout",
                              text::number(p.dropout.p)));
    return all;
}

/// "f16", or "Q in f16, K and V in e4m3 with a scale a head".
std::string about_types(const Problem& p) {
    if (!p.uses(Feature::eight_bits)) return name_of(p.query_type());
    const bool alike = p.query_type() == p.key_type();
    const std::string types =
        alike ? name_of(p.query_type()) : message("describe.types", name_of(p.query_type()), name_of(p.key_type()));
    constexpr const char* with[] = {"describe.no_scales", "describe.tensor_scales", "describe.head_scales",
                                    "describe.token_scales", "describe.block_scales"};
    const std::size_t several = p.scales == Scaling::block && p.scale_block > 1 ? 1 : 0;
    const std::string scaled = message(with[static_cast<std::size_t>(p.scales) + several], types, p.scale_block);
    return p.rotated ? message("describe.rotated", scaled) : scaled;
}

}  // namespace

std::string about_scores(const Problem& p) {
    std::string s;
    for (const std::string& done : done_to_scores(p)) s += ", " + done;
    return s;
}

std::string describe(const Problem& given, const Computation& computation) {
    const Problem p = unpacked(given);
    const auto n = [](Index i) { return std::to_string(i); };
    if (!computation.features.has(Feature::head_dims))
        return n(p.batch_heads()) + " x [" + n(p.seq_q) + " x " + n(p.seq_k) + "], " + name_of(p.dtype);
    std::vector<std::string> all = {message("describe.batch", n(p.batch))};
    all.push_back(p.kv_heads == p.heads ? message("describe.heads", n(p.heads))
                                        : message("describe.heads_in_groups", n(p.heads), n(p.kv_heads)));
    all.push_back(p.seq_q == p.seq_k ? message("describe.seq", n(p.seq_q))
                                     : message("describe.seq_q_and_k", n(p.seq_q), n(p.seq_k)));
    all.push_back(p.dim == p.dim_v ? message("describe.dim", n(p.dim))
                                   : message("describe.dim_and_dim_v", n(p.dim), n(p.dim_v)));
    if (p.pages) all.push_back(about_pages(p));
    all.push_back(about_types(p));
    if (p.mask.hides()) all.push_back(mask_words(p));
    all.push_back(message("describe.scale", text::number(static_cast<double>(p.logit_scale()))));
    return text::join(all, ", ") + about_scores(p);
}

std::string describe(const Request& r, const Computation& computation) {
    const std::string problem = describe(r.problem, computation);
    return r.model.empty() ? problem : message("describe.of_model", r.model, r.phase, problem);
}

std::string beside_ideal(const Report& r) {
    const auto ideal = r.idealised();
    if (!ideal) return "";
    const Bytes counted = ideal->count.hbm_read + ideal->count.hbm_write, executed = r.counters.hbm();
    if (counted == executed) return message("describe.same_as_ideal", ideal->name, text::bytes(counted));
    return message("describe.beside_ideal", ideal->name, text::bytes(counted), text::bytes(executed)) + "\n  " +
           ideal->why + '.';
}

std::string describe(const GpuSpec& g) {
    return message(is_changed_preset(g) ? "describe.changed_gpu" : "describe.gpu", g.title, g.sms,
                   text::binary_bytes(g.sram_per_block), text::binary_bytes(g.registers_per_sm),
                   text::bytes(g.hbm_gbs * 1e9));
}

}  // namespace tilescope::lab
