// Attention, straight from the definition.
#include "algorithms/contract/computation.hpp"

#include <cmath>

#include "algorithms/attention/logits.hpp"
#include "algorithms/contract/exact.hpp"
#include "algorithms/contract/scales.hpp"

namespace tilescope {
namespace {

ReferenceRows reference(const Problem& p, const Inputs& in, Index slice, Span rows) {
    Matrix s = logits(p, in, slice, rows, {0, p.seq_k});
    const RowSums sums = softmax_rows(s);
    if (p.dropout) drop(s, p, slice, rows, {0, p.seq_k});
    Matrix o = Matrix::Zero(rows.size, p.dim_v);
    const Tiles chunks(p.seq_k, key_chunk);
    for (Index c = 0; c < chunks.count(); ++c) {
        const Span j = chunks[c];
        add_seen(o, s.middleCols(j.begin, j.size), rows_of(exact(in, "V"), p.kv_slice({slice, 1}), j),
                 [&](Index r, Index k) { return p.sees(rows.begin + r, j.begin + k); });
    }
    std::vector<double> lse;
    for (std::size_t r = 0; r < sums.m.size(); ++r) lse.push_back(sums.m[r] + std::log(sums.l[r]));
    return {{"O", values_of(o)}, {"LSE", std::move(lse)}, {"m", sums.m}, {"l", sums.l}};
}

TensorDecl bias_tensor(const Problem& p, std::size_t k) {
    const BiasTerm& t = p.bias.terms[k];
    const bool shared = t.batch == BiasTerm::Batch::shared;
    const Index entries = shared ? p.batch : t.batch == BiasTerm::Batch::by_group ? p.bias.group : 1;  // per slice
    TensorDecl d = declare(p, bias_tensors[k], Role::input, Meaning::bias, Sliced::whole, t.by_query ? p.seq_q : 1,
                           p.seq_k, p.output_type());
    d.slices = p.batch / entries * (t.by_head ? p.heads : 1);
    d.heads_per_slice = t.by_head ? 1 : entries * p.heads;
    d.round = entries * p.heads;
    return d;
}

/// The scales of Q, a column, or of K or V, a row. Those of Q are by heads of K and V, so that packed query heads share
/// them.
TensorDecl scales(const Problem& p, const char* of) {
    const Sliced sliced = p.scales == Scaling::tensor ? Sliced::whole : Sliced::by_kv_head;
    const bool queries = of == std::string_view("Q");
    const Index n = ceil_div(queries ? p.seq_q : p.seq_k, rows_of_a_scale(p, of));
    TensorDecl d = declare(p, scales_tensor(of), Role::input, Meaning::other, sliced, queries ? n : 1, queries ? 1 : n,
                           Dtype::f32);
    d.scale_of = of;
    return d;
}

std::vector<TensorDecl> tensors(const Problem& p) {
    std::vector<TensorDecl> all = {
        declare(p, "Q", Role::input, Meaning::query, Sliced::by_head, p.seq_q, p.dim, p.query_type()),
        declare(p, "K", Role::input, Meaning::key, Sliced::by_kv_head, p.seq_k, p.dim, p.key_type()),
        declare(p, "V", Role::input, Meaning::value, Sliced::by_kv_head, p.seq_k, p.dim_v, p.key_type()),
        declare(p, "O", Role::output, Meaning::output, Sliced::by_head, p.seq_q, p.dim_v, p.output_type())};
    for (std::size_t k = 0; k < p.bias.terms.size(); ++k) all.push_back(bias_tensor(p, k));
    if (p.dropout && p.dropout.stored)
        all.push_back(
            declare(p, kept_tensor, Role::scratch, Meaning::other, Sliced::by_head, p.seq_q, p.seq_k, Dtype::u8));
    if (p.scaled(p.query_type())) all.push_back(scales(p, "Q"));
    if (p.scaled(p.key_type())) all.push_back(scales(p, "K")), all.push_back(scales(p, "V"));
    if (!p.pages) return all;
    all[1].in_pages = all[2].in_pages = true;
    all.push_back(declare(p, page_table, Role::input, Meaning::other, Sliced::by_batch, ceil_div(p.seq_k, p.pages.size),
                          1, Dtype::i32));
    return all;
}

}  // namespace

const Computation computation::attention{
    .name = "attention",
    .title = "computation.attention",
    .slice = "head",
    .output = "O",
    .accumulates = true,
    .features = {Feature::head_dims, Feature::grouped_heads, Feature::scale, Feature::mask, Feature::naive_softmax,
                 Feature::pages, Feature::block_mask, Feature::documents, Feature::bias, Feature::alibi,
                 Feature::soft_cap, Feature::dropout, Feature::score_types, Feature::passes, Feature::eight_bits,
                 Feature::accumulator, Feature::hidden_rows, Feature::weight_range},
    .needs = {.over_dim = 1, .over_dim_v = 1},  // S, O
    .file_flag = "--q",
    .tensors = tensors,
    .reference = reference};

}  // namespace tilescope
