#include "algorithms/contract/problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "algorithms/contract/block_mask.hpp"
#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/feature_names.hpp"
#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/pass_lists.hpp"
#include "algorithms/contract/validate.hpp"
#include "core/machine/error.hpp"
#include "core/machine/ops.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"

namespace tilescope {
using text::message;
namespace {
constexpr Index most_rows = Index{1} << 40;
}  // namespace

const char* name_of(Softmax softmax) { return softmax == Softmax::naive ? "naive" : "safe"; }

float Problem::logit_scale() const {
    return static_cast<float>(scale ? *scale : 1.0 / std::sqrt(static_cast<double>(dim)));
}

std::string name_of_scales(const Problem& p) {
    if (p.scales == Scaling::block && p.scale_block > 1) return std::to_string(p.scale_block);
    constexpr const char* names[] = {"none", "tensor", "head", "token"};
    return names[static_cast<std::size_t>(p.scales)];
}

bool set_scales(Problem& p, std::string_view text) {
    Index rows = 1;
    p.scales = text == "none"     ? Scaling::none
               : text == "tensor" ? Scaling::tensor
               : text == "head"   ? Scaling::head
                                  : Scaling::block;
    const bool whole = text == "token" || p.scales != Scaling::block || text::to_whole(text, rows) == std::errc();
    p.scale_block = rows;
    return whole && rows >= 1 && rows <= most_rows;
}

Dtype Problem::score_type() const { return scores.value_or(output_type()); }
Dtype Problem::weight_type() const { return weights.value_or(score_type()); }

namespace {

/// A feature's name in programs, and the messages with its names in a sentence and at the head of a column.
struct FeatureNames {
    const char *key, *name, *word;
};
const FeatureNames& names_of(Feature feature) {
    static constexpr FeatureNames names[] = {{"head_dims", "feature.head_dims", "feature.word_head_dims"},
                                             {"grouped_heads", "feature.grouped_heads", "feature.grouped_heads"},
                                             {"scale", "feature.scale", "feature.word_scale"},
                                             {"mask", "feature.mask", "feature.word_mask"},
                                             {"naive_softmax", "feature.naive_softmax", "feature.word_naive_softmax"},
                                             {"pages", "feature.pages", "feature.word_pages"},
                                             {"block_mask", "feature.block_mask", "feature.word_block_mask"},
                                             {"documents", "feature.documents", "feature.documents"},
                                             {"bias", "feature.bias", "feature.word_bias"},
                                             {"alibi", "feature.alibi", "feature.alibi"},
                                             {"soft_cap", "feature.soft_cap", "feature.word_soft_cap"},
                                             {"dropout", "feature.dropout", "feature.dropout"},
                                             {"score_types", "feature.score_types", "feature.word_score_types"},
                                             {"passes", "feature.passes", "feature.word_passes"},
                                             {"eight_bits", "feature.eight_bits", "feature.word_eight_bits"},
                                             {"accumulator", "feature.accumulator", "feature.word_accumulator"},
                                             {"hidden_rows", "feature.hidden_rows", "feature.word_hidden_rows"},
                                             {"weight_range", "feature.weight_range", "feature.word_weight_range"}};
    return names[static_cast<std::size_t>(feature)];
}

}  // namespace

const char* key_of(Feature feature) { return names_of(feature).key; }
std::string name_of(Feature feature) { return message(names_of(feature).name); }
std::string word_for(Feature feature) { return message(names_of(feature).word); }

bool Problem::uses(Feature feature) const {
    switch (feature) {
        case Feature::head_dims:
            return false;  // every problem has them
        case Feature::grouped_heads:
            return kv_heads != heads;
        case Feature::scale:
            return scale.has_value();
        case Feature::mask:
            return mask.left() || mask.right();
        case Feature::block_mask:
            return mask.blocks() != nullptr;
        case Feature::documents:
            return mask.documents() != nullptr;
        case Feature::naive_softmax:
            return softmax == Softmax::naive;
        case Feature::pages:
            return static_cast<bool>(pages);
        case Feature::bias:
            return static_cast<bool>(bias);
        case Feature::alibi:
            return alibi > 0;
        case Feature::soft_cap:
            return soft_cap.has_value();
        case Feature::dropout:
            return static_cast<bool>(dropout);
        case Feature::score_types:
            return score_type() != output_type() || weight_type() != output_type();
        case Feature::passes:
            return !passes.empty();
        case Feature::eight_bits:
            return size_of(query_type()) == 1 || size_of(key_type()) == 1;
        case Feature::accumulator:
            return sum_bits.has_value();
        case Feature::hidden_rows:
            return mask.blind() != nullptr;
        case Feature::weight_range:
            return p_scale != 1 || stale_max != 0;
    }
    return false;
}

Problem packed(Problem p) {
    const Index g = p.heads / p.kv_heads;
    p.packed *= g, p.seq_q *= g, p.heads = p.kv_heads;
    return p;
}

Problem unpacked(Problem p) {
    p.heads *= p.packed, p.seq_q /= p.packed, p.packed = 1;
    return p;
}

void check_size(const char* field, Index value) {
    if (value < 1 || value > most_rows)
        throw BadValue(field, std::to_string(value), message("problem.no_size"), value < 1 ? "1" : "65536");
}

namespace {

void check_mask(const Problem& p) {
    for (const auto& [field, bound] : {std::pair{"window_left", p.mask.left()}, {"window_right", p.mask.right()}})
        if (bound && std::abs(*bound) > Index{1} << 40)
            throw BadValue(field, std::to_string(*bound), message("problem.window_too_large"), "256");
    if (const Documents* d = p.mask.documents(); d && d->keys() != p.seq_k)
        throw BadValue("documents",
                       message("problem.keys_in_documents", std::to_string(d->keys()), std::to_string(d->count())),
                       message("problem.other_keys_in_documents", std::to_string(p.seq_k), std::to_string(d->keys())));
    const BlockMask* m = p.mask.blocks();
    const auto size = [](Index rows, Index cols) {
        return message("problem.size", std::to_string(rows), std::to_string(cols));
    };
    const auto fits = [](Index blocks, Index of, Index n) { return (blocks - 1) * of < n && n <= blocks * of; };
    if (m && !(fits(m->rows, m->block_rows, p.queries()) && fits(m->cols, m->block_cols, p.seq_k)))
        throw BadValue("block_mask", size(m->rows, m->cols),
                       message("problem.blocks_do_not_cover", size(m->block_rows, m->block_cols),
                               std::to_string(p.queries()), std::to_string(p.seq_k),
                               size(ceil_div(p.queries(), m->block_rows), ceil_div(p.seq_k, m->block_cols)),
                               size(ceil_div(p.queries(), m->rows), ceil_div(p.seq_k, m->cols))));
}

std::string text_of(double x) {
    std::ostringstream out;
    out << x;
    return out.str();
}

void check_paging(const Problem& p) {
    constexpr Index most = Index{1} << 30;  // an entry of the page table has 31 bits
    if (!p.pages && p.pages.order != PageOrder::identity)
        throw BadValue("page_order", name_of(p.pages.order), message("problem.without_pages"));
    if (!p.pages && p.pages.shared > 0)
        throw BadValue("shared_prefix", std::to_string(p.pages.shared), message("problem.without_pages"));
    if (!p.pages) return;
    check_size("page_size", p.pages.size);
    const std::string shared = std::to_string(p.pages.shared);
    if (p.pages.shared > 0 && p.batch == 1) throw BadValue("shared_prefix", shared, message("problem.shares_nothing"));
    if (p.pages.shared < 0 || p.pages.shared > p.seq_k)
        throw BadValue("shared_prefix", shared, message("problem.shared_prefix_too_long", std::to_string(p.seq_k)),
                       std::to_string(p.seq_k));
    if (p.pages.shared > 0 && p.pages.shared < p.pages.size)
        throw BadValue("shared_prefix", shared,
                       message("problem.shared_prefix_too_short", std::to_string(p.pages.size)),
                       std::to_string(p.pages.size));
    if (ceil_div(p.seq_k, p.pages.size) > most / p.batch)
        throw BadValue("page_size", std::to_string(p.pages.size), message("problem.too_many_pages"), "256");
}

/// Q, K and V have one type, or K and V have 8 bits and Q more: then they are widened to Q's type in products. Weights
/// of whole numbers would be 0 or 1.
void check_types(const Problem& p) {
    const Dtype q = p.query_type(), kv = p.key_type();
    if (q == Dtype::i8)
        throw BadValue(p.q_dtype ? "q_dtype" : "dtype", tilescope::name_of(q), message("problem.whole_queries"),
                       "e4m3");
    if (q != kv && (size_of(q) == 1 || size_of(kv) > 1))
        throw BadValue(p.kv_dtype ? "kv_dtype" : "q_dtype", tilescope::name_of(p.kv_dtype ? kv : q),
                       message("problem.types_do_not_meet", tilescope::name_of(q), tilescope::name_of(kv)),
                       tilescope::name_of(p.kv_dtype ? q : kv));
    const bool power_of_two = (p.dim & (p.dim - 1)) == 0;
    if (p.rotated && (size_of(kv) > 1 || !power_of_two))
        throw BadValue(
            "rotate", "true",
            power_of_two ? message("problem.rotates_nothing") : message("problem.no_rotation", std::to_string(p.dim)));
    if (size_of(kv) > 1) return;
    if (p.scales == Scaling::block && (p.scale_block < 1 || p.scale_block > most_rows))
        throw BadValue("scales", name_of_scales(p), message("problem.no_size"), "64");
    if (p.pages && p.scales == Scaling::block)
        throw BadValue("scales", name_of_scales(p), message("problem.scales_in_pages"),
                       p.pages.shared > 0 ? "tensor" : "head");
    if (p.pages.shared > 0 && p.scales == Scaling::head)
        throw BadValue("scales", name_of_scales(p), message("problem.scales_of_shared_keys"), "tensor");
}

void check_passes(const Problem& p) {
    if (p.passes.empty()) return;
    if (p.uses(Feature::eight_bits)) throw BadValue("passes", name_of(p.passes), message("problem.passes_in_8_bits"));
    const std::string list = name_of(p.passes), type = tilescope::name_of(p.dtype);
    const auto has = [](Pass pass) { return [=](const PassLaunch& l) { return l.has(pass); }; };
    const auto begin = p.passes.begin(), end = p.passes.end();
    if (p.softmax == Softmax::naive && std::none_of(begin, end, has(Pass::softmax)))
        throw BadValue("softmax", "naive", message("problem.softmax_beside_passes"));
    if (std::any_of(begin, std::find_if(begin, end, has(Pass::product)), has(Pass::scale)) && p.logit_scale() < 0)
        throw BadValue("scale", text_of(p.logit_scale()), message("problem.scale_without_root"), "0.125");
    PassList mended = p.passes;
    for (PassLaunch& launch : mended)
        if (launch.type && *launch.type != Dtype::f32 && *launch.type != p.dtype) launch.type = p.dtype;
    if (mended != p.passes)
        throw BadValue("passes", list, message("problem.other_types_of_passes", type), name_of(mended));
    if (p.passes.back().has(Pass::product) && p.passes.back().type.value_or(p.dtype) != p.dtype)
        throw BadValue("passes", list, message("problem.last_product_in_f32", type), list + "/convert");
    if (p.scores || p.weights)
        throw BadValue(p.scores ? "scores" : "weights", tilescope::name_of(p.scores ? *p.scores : *p.weights),
                       message("problem.types_beside_passes"));
}

void check_scores(const Problem& p) {
    check_size("bias_group", p.bias.group);
    const std::string group = std::to_string(p.bias.group);
    if (p.bias.group != 1 && !p.bias.has_groups())
        throw BadValue("bias_group", group, message("problem.bias_without_groups"));
    if (p.batch % p.bias.group != 0)
        throw BadValue("bias_group", group, message("problem.bias_group_divides", std::to_string(p.batch)),
                       std::to_string(std::gcd(p.batch, p.bias.group)));
    if (p.soft_cap && !(std::isfinite(*p.soft_cap) && *p.soft_cap > 0))
        throw BadValue("soft_cap", text_of(*p.soft_cap), message("problem.no_soft_cap"), "50");
    constexpr Index largest_scale = 1 << 15;
    if (p.p_scale < 1 || p.p_scale > largest_scale || (p.p_scale & (p.p_scale - 1)) != 0)
        throw BadValue("p_scale", std::to_string(p.p_scale), message("problem.no_p_scale"), "256");
    if (!(p.stale_max >= 0 && p.stale_max <= 64))
        throw BadValue("stale_max", text_of(p.stale_max), message("problem.no_stale_max"), "8");
    if (p.sum_bits && size_of(p.query_type()) > 1)
        throw BadValue("accumulator", name_of_accumulator(p), message("problem.accumulator_of_8_bits"));
    if (p.sum_bits && *p.sum_bits != 0 && (*p.sum_bits < 8 || *p.sum_bits > 16))
        throw BadValue("accumulator", name_of_accumulator(p), message("problem.no_accumulator"), "13");
    for (const auto& [field, type] : {std::pair{"scores", p.score_type()}, {"weights", p.weight_type()}})
        if (type != Dtype::f32 && type != p.output_type())
            throw BadValue(field, tilescope::name_of(type),
                           message("problem.other_type", tilescope::name_of(p.output_type())), "f32");
    if (!(p.dropout.p >= 0 && p.dropout.p < 1))
        throw BadValue("dropout", text_of(p.dropout.p), message("problem.no_share"), "0.1");
}

}  // namespace

void validate(const Problem& p) {
    check_size("batch", p.batch);
    check_size("heads", p.heads);
    check_size("kv_heads", p.kv_heads);
    check_size("seq_q", p.seq_q);
    check_size("seq_k", p.seq_k);
    check_size("dim", p.dim);
    check_size("dim_v", p.dim_v);
    if (p.heads % p.kv_heads != 0) {
        Index most = std::min(p.kv_heads, p.heads);
        while (p.heads % most != 0) --most;
        throw BadValue("kv_heads", std::to_string(p.kv_heads),
                       message("problem.kv_heads_divide", std::to_string(p.heads)), std::to_string(most));
    }
    if (p.scale && !std::isfinite(*p.scale))
        throw BadValue("scale", std::to_string(*p.scale), message("problem.no_finite_number"), "0.125");
    check_paging(p);
    check_mask(p);
    check_types(p);
    check_scores(p);
    check_passes(p);
    // The largest counter is below 128 times this product even with tiles of one row and one column.
    const double work = static_cast<double>(p.batch) * static_cast<double>(p.heads) * static_cast<double>(p.seq_q) *
                        static_cast<double>(p.seq_k) * static_cast<double>(p.dim + p.dim_v);
    if (work > std::ldexp(1.0, 56))
        throw BadValue("seq_q", std::to_string(p.seq_q),
                       message("problem.too_large_to_count", std::to_string(p.seq_k)));
}

}  // namespace tilescope
