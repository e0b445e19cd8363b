#include "lab/report/problem_fields.hpp"

#include <cmath>

#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/hidden_rows.hpp"
#include "algorithms/contract/pass_lists.hpp"
#include "core/machine/dtypes.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/workload/mask_json.hpp"

namespace tilescope::lab {
using text::message;
namespace {

using Of = const Problem&;
using By = const Algorithm&;

bool always_written(Of, By) { return true; }
bool always_needed(const JsonEntry&, Of) { return true; }
bool never_needed(const JsonEntry&, Of) { return false; }
bool with_pages(Of, By a) { return a.supports.has(Feature::pages); }
bool beside_page_size(const JsonEntry& e, Of) { return e.has("page_size"); }
bool with_bias(Of p, By) { return static_cast<bool>(p.bias); }
bool with_dropout(Of p, By) { return static_cast<bool>(p.dropout); }
bool beside_dropout(const JsonEntry& e, Of) { return e.has("dropout"); }

/// `value`, or no value where the field has no meaning.
template <class T>
MetricValue if_meant(bool meant, T value) {
    return meant ? MetricValue(std::move(value)) : MetricValue();
}
std::string plain_word(const char* name) { return name; }
const char* mask_word(const Dropout& d) { return d.stored ? "stored" : "regenerated"; }

double scale_of(Of p) { return p.scale.value_or(1.0 / std::sqrt(static_cast<double>(p.dim))); }

Dtype type_in(JsonEntry& e, const char* key) { return e.named(key, number_dtypes, tilescope::name_of); }

bool truth_in(JsonEntry& e, const char* key) {
    const Json& value = e.at(key);
    if (!value.is_boolean()) e.refuse(message("problem_fields.no_truth", key));
    return value.get<bool>();
}

template <Index Problem::*size>
ProblemField size_field(const char* key) {
    return {key,
            [](Of p) { return MetricValue(p.*size); },
            false,
            always_written,
            always_needed,
            [](Of p) { return Json(p.*size); },
            [](JsonEntry& e, const char* k, Problem& p, const std::string&) { p.*size = e.integer(k, 1); }};
}

/// The field for the type of some tensors. CSV has what `type` returns, in runs that have `feature`.
template <std::optional<Dtype> Problem::*given, Dtype (Problem::*type)() const, Feature feature>
ProblemField type_field(const char* key) {
    return {key,
            [](Of p) { return if_meant(p.uses(feature), plain_word(name_of((p.*type)()))); },
            true,
            [](Of p, By) { return (p.*given).has_value(); },
            never_needed,
            [](Of p) { return Json(name_of(*(p.*given))); },
            [](JsonEntry& e, const char* k, Problem& p, const std::string&) { p.*given = type_in(e, k); }};
}

const ProblemField problem_rows[] = {
    size_field<&Problem::batch>("batch"),
    size_field<&Problem::heads>("heads"),
    size_field<&Problem::kv_heads>("kv_heads"),
    size_field<&Problem::seq_q>("seq_q"),
    size_field<&Problem::seq_k>("seq_k"),
    size_field<&Problem::dim>("dim"),
    size_field<&Problem::dim_v>("dim_v"),
    {"dtype", [](Of p) { return MetricValue(plain_word(name_of(p.dtype))); }, false, always_written, always_needed,
     [](Of p) { return Json(name_of(p.dtype)); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) { p.dtype = type_in(e, k); }},
    type_field<&Problem::q_dtype, &Problem::query_type, Feature::eight_bits>("q_dtype"),
    type_field<&Problem::kv_dtype, &Problem::key_type, Feature::eight_bits>("kv_dtype"),
    {"rotated", [](Of p) { return if_meant(p.uses(Feature::eight_bits), p.rotated); }, true,
     [](Of p, By) { return p.rotated; }, never_needed, [](Of) { return Json(true); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) { p.rotated = truth_in(e, k); }},
    {"scales", [](Of p) { return if_meant(p.uses(Feature::eight_bits), name_of_scales(p)); }, true,
     [](Of p, By) { return p.uses(Feature::eight_bits); }, never_needed, [](Of p) { return Json(name_of_scales(p)); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         const std::string scales = e.text(k);
         if (!set_scales(p, scales)) e.refuse(message("problem_fields.no_scales", text::shown(scales)));
     }},
    {"accumulator", [](Of p) { return if_meant(p.uses(Feature::accumulator), name_of_accumulator(p)); }, true,
     [](Of p, By) { return p.uses(Feature::accumulator); }, never_needed,
     [](Of p) { return Json(name_of_accumulator(p)); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         const std::string bits = e.text(k);
         if (!set_accumulator(p, bits)) e.refuse(message("problem_fields.no_accumulator", text::shown(bits)));
     }},
    {"causal", [](Of p) { return MetricValue(p.mask.is_causal()); }, false, always_written, always_needed,
     [](Of p) { return Json(p.mask.is_causal()); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         if (truth_in(e, k)) p.mask = Mask::causal();
     }},
    {"mask", [](Of p) { return MetricValue(p.mask.name()); }, false,
     [](Of p, By) { return p.mask.hides() && !p.mask.is_causal(); }, never_needed, [](Of p) { return to_json(p.mask); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string& file) {
         p.mask = mask_from(JsonEntry(e.at(k), file, "mask"), file);
     }},
    {"scale", [](Of p) { return MetricValue(static_cast<double>(p.logit_scale())); }, false, always_written,
     always_needed, [](Of p) { return Json(scale_of(p)); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         if (const double scale = e.number(k); scale != scale_of(p)) p.scale = scale;
     }},
    {"softmax", [](Of p) { return MetricValue(plain_word(name_of(p.softmax))); }, false,
     [](Of, By a) { return a.supports.has(Feature::naive_softmax); }, never_needed,
     [](Of p) { return Json(name_of(p.softmax)); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         p.softmax = e.named(k, {Softmax::safe, Softmax::naive}, tilescope::name_of);
     }},
    {"page_size", [](Of p) { return if_meant(static_cast<bool>(p.pages), p.pages.size); }, true, with_pages,
     never_needed, [](Of p) { return Json(p.pages.size); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) { p.pages.size = e.integer(k, 0); }},
    {"shared_prefix", [](Of p) { return if_meant(static_cast<bool>(p.pages), p.pages.shared); }, true, with_pages,
     beside_page_size, [](Of p) { return Json(p.pages.shared); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) { p.pages.shared = e.integer(k, 0); }},
    {"page_order", nullptr, true, with_pages, beside_page_size, [](Of p) { return Json(name_of(p.pages.order)); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         p.pages.order = e.named(k, {PageOrder::identity, PageOrder::permuted}, tilescope::name_of);
     }},
    {"bias", [](Of p) { return if_meant(static_cast<bool>(p.bias), p.bias.name()); }, true, with_bias, never_needed,
     [](Of p) { return Json(p.bias.name()); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         const std::string axes = e.text(k);
         const auto terms = Bias::terms_from(axes);
         if (!terms) e.refuse(message("problem_fields.no_axes_of_bias", text::shown(axes)));
         p.bias.terms = *terms;
     }},
    {"bias_group", [](Of p) { return if_meant(p.bias.has_groups(), p.bias.group); }, true, with_bias,
     [](const JsonEntry& e, Of) { return e.has("bias"); }, [](Of p) { return Json(p.bias.group); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) { p.bias.group = e.integer(k, 1); }},
    {"alibi", [](Of p) { return MetricValue(p.alibi > 0); }, true, [](Of p, By) { return p.alibi > 0; }, never_needed,
     [](Of) { return Json(true); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) { p.alibi = truth_in(e, k) ? p.heads : 0; }},
    {"alibi_heads", nullptr, true, [](Of p, By) { return p.alibi > 0 && p.alibi != p.heads * p.packed; },  // of a part
     never_needed, [](Of p) { return Json(p.alibi); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         if (p.alibi > 0) p.alibi = e.integer(k, p.heads);
     }},
    {"soft_cap", [](Of p) { return if_meant(p.soft_cap.has_value(), p.soft_cap.value_or(0)); }, true,
     [](Of p, By) { return p.soft_cap.has_value(); }, never_needed, [](Of p) { return Json(*p.soft_cap); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) { p.soft_cap = e.number(k); }},
    {"p_scale", [](Of p) { return if_meant(p.uses(Feature::weight_range), p.p_scale); }, true,
     [](Of p, By) { return p.p_scale != 1; }, never_needed, [](Of p) { return Json(p.p_scale); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) { p.p_scale = e.integer(k, 1); }},
    {"stale_max", [](Of p) { return if_meant(p.uses(Feature::weight_range), p.stale_max); }, true,
     [](Of p, By) { return p.stale_max != 0; }, never_needed, [](Of p) { return Json(p.stale_max); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) { p.stale_max = e.number(k); }},
    {"dropout", [](Of p) { return MetricValue(p.dropout.p); }, true, with_dropout, never_needed,
     [](Of p) { return Json(p.dropout.p); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) { p.dropout.p = e.number(k); }},
    {"dropout_seed", nullptr, true, with_dropout, beside_dropout, [](Of p) { return Json(p.dropout.seed); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         const Json& seed = e.at(k);
         if (!seed.is_number_unsigned()) e.refuse(message("problem_fields.no_dropout_seed"));
         p.dropout.seed = seed.get<std::uint64_t>();
     }},
    {"dropout_mask", [](Of p) { return if_meant(static_cast<bool>(p.dropout), plain_word(mask_word(p.dropout))); },
     true, with_dropout, beside_dropout, [](Of p) { return Json(mask_word(p.dropout)); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         const std::string mask = e.text(k);
         if (mask != "stored" && mask != "regenerated") e.refuse(message("problem_fields.no_dropout_mask"));
         p.dropout.stored = mask == "stored";
     }},
    type_field<&Problem::scores, &Problem::score_type, Feature::score_types>("scores"),
    type_field<&Problem::weights, &Problem::weight_type, Feature::score_types>("weights"),
    {"passes", [](Of p) { return if_meant(!p.passes.empty(), name_of(p.passes)); }, true,
     [](Of p, By) { return !p.passes.empty(); }, never_needed, [](Of p) { return Json(name_of(p.passes)); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         try {
             p.passes = passes_from(e.text(k));
         } catch (const BadValue& wrong) {
             e.refuse(message("problem_fields.no_passes", wrong.allowed));
         }
     }},
    {"causal_corner",
     [](Of p) {
         const bool matters = (p.mask.hides() || p.alibi > 0) && p.queries() != p.seq_k;
         return if_meant(matters, plain_word(name_of(p.corner)));
     },
     true, [](Of p, By) { return p.corner != Corner::bottom_right; }, never_needed,
     [](Of p) { return Json(name_of(p.corner)); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         p.corner = e.named(k, {Corner::bottom_right, Corner::top_left}, tilescope::name_of);
     }},
    {"hidden_rows",
     [](Of p) { return if_meant(p.uses(Feature::hidden_rows), plain_word(name_of(p.mask.hidden_rows()))); }, true,
     [](Of p, By) { return p.uses(Feature::hidden_rows); }, never_needed,
     [](Of p) { return Json(name_of(p.mask.hidden_rows())); },
     [](JsonEntry& e, const char* k, Problem& p, const std::string&) {
         const HiddenRows rule =
             e.named(k, {HiddenRows::zero, HiddenRows::mean, HiddenRows::unmasked}, tilescope::name_of);
         p.mask = p.mask.with(rule, p.queries(), p.seq_k, p.diagonal());
     }},
};

}  // namespace

std::span<const ProblemField> problem_fields() { return problem_rows; }
std::span<const ProblemField> problem_sizes() { return std::span(problem_rows).first<7>(); }

}  // namespace tilescope::lab
