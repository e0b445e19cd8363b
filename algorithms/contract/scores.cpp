#include "algorithms/contract/scores.hpp"

#include "algorithms/contract/algorithm.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {
namespace {

void add_biases(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j, Here here) {
    for (std::size_t k = 0; k < p.bias.terms.size(); ++k) {
        const BiasTerm& term = p.bias.terms[k];
        const Hbm bias = t[bias_tensors[k]].slice(p.bias.slice_of(term, head.begin, p.heads));
        add_bias(b, s, b.load(bias, term.by_query ? i : Span{0, 1}, j, Space::sram, here), here);
    }
}

/// Adds ALiBi to a tile whose rows belong to several packed heads, with a slope for each head.
void add_alibi(Block& b, Tile& s, const Problem& p, Span head, Span i, Span j, Here here) {
    std::vector<float> slopes;
    for (Index k = 0; k < p.packed; ++k) slopes.push_back(alibi_slope(head.begin % p.heads * p.packed + k, p.alibi));
    alibi(b, s, slopes, p.queries(i).begin + p.diagonal() - j.begin, p.stairs(i), here);
}

Dropping dropping(const Problem& p, Span head, Span i, Span j) {
    const Dropout& d = p.dropout;
    return {{d.seed, d.threshold()}, d.factor(), head.begin * p.packed, p.queries(i).begin, j.begin, p.stairs(i)};
}

}  // namespace

void finish_scores(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j, Here here) {
    cap_scores(b, s, p, here);
    finish_capped_scores(b, s, p, t, head, i, j, here);
}

void cap_scores(Block& b, Tile& s, const Problem& p, Here here) {
    if (p.soft_cap) soft_cap(b, s, static_cast<float>(*p.soft_cap), here);
}

void bias_scores(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j, Here here) {
    if (p.bias) add_biases(b, s, p, t, head, i, j, here);
    if (p.alibi > 0) add_alibi(b, s, p, head, i, j, here);
}

void finish_capped_scores(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j, Here here) {
    bias_scores(b, s, p, t, head, i, j, here);
    apply_mask(b, s, p, i, j, here);
}

void drop_scores(Block& b, Tile& s, const Problem& p, const Tensors& t, Span head, Span i, Span j, Here here) {
    if (!p.dropout) return;
    if (!p.dropout.stored) return drop(b, s, dropping(p, head, i, j), here);
    drop_by(b, s, b.load(t[kept_tensor].of(head), i, j, Space::sram, here), p.dropout.factor(), here);
}

void store_kept(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys) {
    if (!p.dropout || !p.dropout.stored) return;
    const Hbm kept = t[kept_tensor];
    gpu.launch("dropout_mask", {p.head_axis(), uniform(rows), uniform(keys)}, [&](Block& b, Span head, Span i, Span j) {
        b.at(1);
        Tile drawn = b.alloc("kept", i.size, j.size, Space::registers, Dtype::u8);
        draw_kept(b, drawn, dropping(p, head, i, j));
        b.store(drawn, kept.of(head), i, j);
    });
}

}  // namespace tilescope
