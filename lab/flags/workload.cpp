// The flags of a workload: how each is read, what it sets in a problem, and how a problem is written as flags.
#include <optional>
#include <string>

#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/hidden_rows.hpp"
#include "algorithms/contract/pass_lists.hpp"
#include "algorithms/contract/problem.hpp"
#include "core/machine/dtypes.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/mask.hpp"
#include "lab/flags/rows.hpp"
#include "lab/workload/model_presets.hpp"

namespace tilescope::lab {
namespace {

/// Writes a size into its flag if it differs from that of a default problem.
template <Index Problem::*size, std::optional<Index> Options::*flag>
void write_size(const Problem& p, Options& o) {
    if (p.*size != Problem().*size) o.*flag = p.*size;
}

void add_sizes(Rows& t) {
    constexpr auto sizes = FlagOf::sizes, attention = FlagOf::attention;
    t.add("model", attention, "flag.model", "NAME", "fallback.none", &Options::model,
          [](const std::string&, const std::string& v) {
              return std::string(in_flags([&] { return model_named(v).name; }));
          });
    t.add("phase", attention, "flag.phase", "PHASE", "prefill", &Options::phase, as_one_of(phases));
    t.add_size(
        "batch", sizes, "flag.batch", "1", &Options::batch, [](const Options& o, Problem& p) { p.batch = *o.batch; },
        write_size<&Problem::batch, &Options::batch>);
    t.add_size(
        "heads", sizes, "flag.heads", "8", &Options::heads,
        [](const Options& o, Problem& p) { p.heads = p.kv_heads = *o.heads; },
        write_size<&Problem::heads, &Options::heads>);
    t.add_size(
        "kv-heads", attention, "flag.kv_heads", "--heads", &Options::kv_heads,
        [](const Options& o, Problem& p) { p.kv_heads = *o.kv_heads; },
        [](const Problem& p, Options& o) {
            if (p.kv_heads != p.heads) o.kv_heads = p.kv_heads;
        });
    t.rows.back().asks_for = Feature::grouped_heads;
    t.add_size(
        "seq", sizes, "flag.seq", "1024", &Options::seq,
        [](const Options& o, Problem& p) { p.seq_q = p.seq_k = *o.seq; },
        [](const Problem& p, Options& o) {
            if (p.seq_q == p.seq_k && p.seq_q != Problem().seq_q) o.seq = p.seq_q;
        });
    t.add_size(
        "seq-q", sizes, "flag.seq_q", "--seq", &Options::seq_q,
        [](const Options& o, Problem& p) { p.seq_q = *o.seq_q; },
        [](const Problem& p, Options& o) {
            if (p.seq_q != p.seq_k) o.seq_q = p.seq_q;
        });
    t.add_size(
        "seq-k", sizes, "flag.seq_k", "--seq", &Options::seq_k,
        [](const Options& o, Problem& p) { p.seq_k = *o.seq_k; },
        [](const Problem& p, Options& o) {
            if (p.seq_q != p.seq_k) o.seq_k = p.seq_k;
        });
    t.add_size(
        "dim", attention, "flag.dim", "64", &Options::dim,
        [](const Options& o, Problem& p) { p.dim = p.dim_v = *o.dim; }, write_size<&Problem::dim, &Options::dim>);
    t.add_size(
        "dim-v", attention, "flag.dim_v", "--dim", &Options::dim_v,
        [](const Options& o, Problem& p) { p.dim_v = *o.dim_v; },
        [](const Problem& p, Options& o) {
            if (p.dim_v != p.dim) o.dim_v = p.dim_v;
        });
}

/// Adds the row of a type of some tensors alone.
template <std::optional<Dtype> Problem::*type, std::optional<std::string> Options::*flag>
void add_type(Rows& t, const char* name, const char* help) {
    Flag& row = t.add(name, FlagOf::attention, help, "TYPE", "--dtype", flag,
                      [](const std::string& given, const std::string& v) { return to_dtype(v, given), v; });
    row.asks_for = Feature::eight_bits;
    row.ask = [](const Options& o, Problem& p) { p.*type = dtype_from(*(o.*flag)); };
    row.write = [](const Problem& p, Options& o) {
        if (p.*type) o.*flag = name_of(*(p.*type));
    };
}

/// Adds the types of Q, K and V. A refusal of 8 bits names the first flag that is given.
void add_types(Rows& t) {
    add_type<&Problem::q_dtype, &Options::q_dtype>(t, "q-dtype", "flag.q_dtype");
    add_type<&Problem::kv_dtype, &Options::kv_dtype>(t, "kv-dtype", "flag.kv_dtype");
    Flag& type = t.add("dtype", FlagOf::sizes, "flag.dtype", "TYPE", "f16", &Options::dtype, as_words);
    type.asks_for = Feature::eight_bits;
    type.ask = [](const Options& o, Problem& p) { p.dtype = to_dtype(*o.dtype); };
    type.write = [](const Problem& p, Options& o) {
        if (p.dtype != Problem().dtype) o.dtype = name_of(p.dtype);
    };
    Flag& rotate = t.add("rotate", FlagOf::attention, "flag.rotate", nullptr, nullptr, &Options::rotate, to_bool);
    rotate.asks_for = Feature::eight_bits;
    rotate.ask = [](const Options& o, Problem& p) { p.rotated = *o.rotate; };
    rotate.write = [](const Problem& p, Options& o) {
        if (p.rotated) o.rotate = true;
    };
    Flag& scales = t.add("scales", FlagOf::attention, "flag.scales", "KIND|N", "head", &Options::scales,
                         [](const std::string&, const std::string& v) {
                             Problem p;
                             to_scales(v, p);
                             return name_of_scales(p);
                         });
    scales.ask = [](const Options& o, Problem& p) { to_scales(*o.scales, p); };
    scales.write = [](const Problem& p, Options& o) {
        if (p.scales != Problem().scales) o.scales = name_of_scales(p);
    };
    Flag& accumulator = t.add("accumulator", FlagOf::attention, "flag.accumulator", "BITS", "gpu",
                              &Options::accumulator, [](const std::string&, const std::string& v) {
                                  Problem p;
                                  to_accumulator(v, p);
                                  return name_of_accumulator(p);
                              });
    accumulator.asks_for = Feature::accumulator;
    accumulator.ask = [](const Options& o, Problem& p) { to_accumulator(*o.accumulator, p); };
    accumulator.write = [](const Problem& p, Options& o) {
        if (p.sum_bits) o.accumulator = name_of_accumulator(p);
    };
}

void add_mask(Rows& t) {
    constexpr auto attention = FlagOf::attention;
    Flag& causal = t.add("causal", attention, "flag.causal", nullptr, nullptr, &Options::causal, to_bool);
    causal.asks_for = Feature::mask;
    causal.write = [](const Problem& p, Options& o) { set_mask(o, p.mask); };  // all flags of the mask
    Flag& corner = t.add("causal-corner", attention, "flag.causal_corner", "CORNER", "bottom-right",
                         &Options::causal_corner, as_one_of(corners));
    corner.ask = [](const Options& o, Problem& p) {
        const Corner asked = to_named("--causal-corner", o.causal_corner, std::span<const Corner>(corners));
        if (p.seq_q != p.seq_k) p.corner = asked;  // with as many queries as keys both corners are the same
    };
    corner.write = [](const Problem& p, Options& o) { o.causal_corner = name_of(p.corner); };
    t.add("window-left", attention, "flag.window_left", "N", "fallback.all", &Options::window_left, as_reach).asks_for =
        Feature::mask;
    t.add("window-right", attention, "flag.window_right", "N", "fallback.all", &Options::window_right, as_reach)
        .asks_for = Feature::mask;
    t.add("hidden-rows", attention, "flag.hidden_rows", "RULE", "zero", &Options::hidden_rows,
          as_one_of(hidden_row_rules))
        .asks_for = Feature::hidden_rows;
    t.add("documents", attention, "flag.documents", "LIST", "fallback.one_document", &Options::documents,
          [](const std::string&, const std::string& v) { return to_documents(v), v; })
        .asks_for = Feature::documents;
    t.add("block-mask", attention, "flag.block_mask", "NAME|FILE", "fallback.none", &Options::block_mask, as_words)
        .asks_for = Feature::block_mask;
    t.add("mask-block", attention, "flag.mask_block", "N|NxN", "128", &Options::mask_block,
          [](const std::string&, const std::string& v) { return to_mask_block(v), v; });
}

/// Adds the types of S and P. A problem stores a type only where it differs from the default.
void add_score_types(Rows& t) {
    Flag& scores = t.add("scores", FlagOf::attention, "flag.scores", "TYPE", "--dtype", &Options::scores, as_words);
    scores.asks_for = Feature::score_types;
    scores.ask = [](const Options& o, Problem& p) {
        if (const Dtype type = to_dtype(*o.scores, "--scores"); type != p.output_type()) p.scores = type;
    };
    scores.write = [](const Problem& p, Options& o) {
        if (p.scores) o.scores = name_of(*p.scores);
    };
    Flag& weights =
        t.add("weights", FlagOf::attention, "flag.weights", "TYPE", "--scores", &Options::weights, as_words);
    weights.asks_for = Feature::score_types;
    weights.ask = [](const Options& o, Problem& p) {
        if (const Dtype type = to_dtype(*o.weights, "--weights"); type != p.score_type()) p.weights = type;
    };
    weights.write = [](const Problem& p, Options& o) {
        if (p.weights) o.weights = name_of(*p.weights);
    };
}

void add_passes(Rows& t) {
    Flag& passes = t.add("passes", FlagOf::attention, "flag.passes", "LIST", "fallback.its_own", &Options::passes,
                         [](const std::string&, const std::string& v) {
                             in_flags([&] { passes_from(v); });
                             return v;
                         });
    passes.asks_for = Feature::passes;
    passes.ask = [](const Options& o, Problem& p) { in_flags([&] { p.passes = passes_from(o.passes); }); };
    passes.write = [](const Problem& p, Options& o) { o.passes = name_of(p.passes); };
}

Softmax softmax_from(const std::string& name) {
    if (name != "naive" && name != "safe") throw UsageError(text::message("flag.no_softmax", text::shown(name)));
    return name == "naive" ? Softmax::naive : Softmax::safe;
}

void add_scores(Rows& t) {
    constexpr auto attention = FlagOf::attention;
    Flag& scale = t.add("scale", attention, "flag.scale", "X", "1/sqrt(dim)", &Options::scale, as_number("0.125"));
    scale.asks_for = Feature::scale;
    scale.ask = [](const Options& o, Problem& p) { p.scale = o.scale; };
    scale.write = [](const Problem& p, Options& o) { o.scale = p.scale; };
    add_score_types(t);
    add_passes(t);
    Flag& softmax = t.add("softmax", attention, "flag.softmax", "KIND", "safe", &Options::softmax, as_words);
    softmax.asks_for = Feature::naive_softmax;
    softmax.ask = [](const Options& o, Problem& p) { p.softmax = softmax_from(*o.softmax); };
    softmax.write = [](const Problem& p, Options& o) {
        if (p.softmax == Softmax::naive) o.softmax = name_of(p.softmax);
    };
    Flag& bias = t.add("bias", attention, "flag.bias", "AXES", "none", &Options::bias,
                       [](const std::string&, const std::string& v) { return to_bias(v).first; });
    bias.asks_for = Feature::bias;
    bias.ask = [](const Options& o, Problem& p) { p.bias.terms = to_bias(o.bias).second; };
    bias.write = [](const Problem& p, Options& o) {
        if (p.bias) o.bias = p.bias.name();
    };
    Flag& group = t.add("bias-group", attention, "flag.bias_group", "N", "1", &Options::bias_group, as_size);
    group.ask = [](const Options& o, Problem& p) { p.bias.group = *o.bias_group; };
    group.write = [](const Problem& p, Options& o) {
        if (p.bias.has_groups()) o.bias_group = p.bias.group;
    };
    Flag& alibi = t.add("alibi", attention, "flag.alibi", nullptr, nullptr, &Options::alibi, to_bool);
    alibi.asks_for = Feature::alibi;
    alibi.ask = [](const Options& o, Problem& p) { p.alibi = *o.alibi ? p.heads : 0; };
    alibi.write = [](const Problem& p, Options& o) {
        if (p.alibi > 0) o.alibi = true;
    };
    Flag& cap =
        t.add("soft-cap", attention, "flag.soft_cap", "X", "fallback.none", &Options::soft_cap, as_number("50"));
    cap.asks_for = Feature::soft_cap;
    cap.ask = [](const Options& o, Problem& p) { p.soft_cap = o.soft_cap; };
    cap.write = [](const Problem& p, Options& o) { o.soft_cap = p.soft_cap; };
    Flag& p_scale = t.add("p-scale", attention, "flag.p_scale", "N", "1", &Options::p_scale, as_size);
    p_scale.asks_for = Feature::weight_range;
    p_scale.ask = [](const Options& o, Problem& p) { p.p_scale = *o.p_scale; };
    p_scale.write = [](const Problem& p, Options& o) {
        if (p.p_scale != 1) o.p_scale = p.p_scale;
    };
    Flag& stale = t.add("stale-max", attention, "flag.stale_max", "X", "0", &Options::stale_max, as_number("8"));
    stale.asks_for = Feature::weight_range;
    stale.ask = [](const Options& o, Problem& p) { p.stale_max = *o.stale_max; };
    stale.write = [](const Problem& p, Options& o) {
        if (p.stale_max != 0) o.stale_max = p.stale_max;
    };
}

/// Whether there is dropout. UsageError where --dropout is absent, because `flag` needs it; with --dropout 0 there is
/// no dropout, whatever `flag` says.
bool drops(const Options& o, const std::string& flag) {
    if (!o.dropout) throw UsageError(text::message("flag.of_dropout", flag));
    return *o.dropout != 0;
}

void add_dropout(Rows& t) {
    constexpr auto attention = FlagOf::attention;
    Flag& dropout = t.add("dropout", attention, "flag.dropout", "P", "0", &Options::dropout, as_number("0.1"));
    dropout.asks_for = Feature::dropout;
    dropout.ask = [](const Options& o, Problem& p) { p.dropout.p = *o.dropout; };
    dropout.write = [](const Problem& p, Options& o) {
        if (p.dropout) o.dropout = p.dropout.p;
    };
    Flag& seed = t.add("dropout-seed", attention, "flag.dropout_seed", "N", "0", &Options::dropout_seed, to_seed);
    seed.ask = [](const Options& o, Problem& p) {
        if (drops(o, "--dropout-seed " + std::to_string(*o.dropout_seed))) p.dropout.seed = *o.dropout_seed;
    };
    seed.write = [](const Problem& p, Options& o) {
        if (p.dropout) o.dropout_seed = p.dropout.seed;
    };
    Flag& mask = t.add("dropout-mask", attention, "flag.dropout_mask", "KIND", "regenerated", &Options::dropout_mask,
                       as_one_of(dropout_masks));
    mask.ask = [](const Options& o, Problem& p) {
        const auto kind = to_named("--dropout-mask", o.dropout_mask, std::span<const DropoutMask>(dropout_masks));
        if (drops(o, "--dropout-mask " + o.dropout_mask)) p.dropout.stored = kind == DropoutMask::stored;
    };
    mask.write = [](const Problem& p, Options& o) {
        o.dropout_mask = name_of(p.dropout.stored ? DropoutMask::stored : DropoutMask::regenerated);
    };
}

void add_pages(Rows& t) {
    constexpr auto attention = FlagOf::attention;
    Flag& size =
        t.add("page-size", attention, "flag.page_size", "N", "fallback.in_one_piece", &Options::page_size, as_size);
    size.asks_for = Feature::pages;
    size.ask = [](const Options& o, Problem& p) { p.pages.size = *o.page_size; };
    size.write = [](const Problem& p, Options& o) {
        if (p.pages) o.page_size = p.pages.size;
    };
    Flag& order = t.add("page-order", attention, "flag.page_order", "ORDER", "identity", &Options::page_order,
                        as_one_of(page_orders));
    order.ask = [](const Options& o, Problem& p) {
        p.pages.order = to_named("--page-order", o.page_order, std::span<const PageOrder>(page_orders));
    };
    order.write = [](const Problem& p, Options& o) {
        if (p.pages) o.page_order = name_of(p.pages.order);
    };
    Flag& prefix =
        t.add("shared-prefix", attention, "flag.shared_prefix", "N", "fallback.none", &Options::shared_prefix, as_size);
    prefix.ask = [](const Options& o, Problem& p) { p.pages.shared = *o.shared_prefix; };
    prefix.write = [](const Problem& p, Options& o) {
        if (p.pages.shared > 0) o.shared_prefix = p.pages.shared;
    };
}

}  // namespace

void add_workload(Rows& t) { add_sizes(t), add_types(t), add_mask(t), add_scores(t), add_dropout(t), add_pages(t); }

}  // namespace tilescope::lab
