// The mathematics that backward passes which recompute P have in common, tile by tile. Each backward pass gives the
// lines of its pseudo-code to which the operations belong.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/kv_heads.hpp"
#include "algorithms/contract/scores.hpp"
#include "algorithms/contract/tile_sums.hpp"
#include "core/machine/gradient_ops.hpp"

namespace tilescope::backward {

/// Writes D_i = rowsum(dO_i * O_i) to HBM, in f32. All operations belong to `line`. Calls with() at the end.
template <class With>
void row_product(Block& b, const Tensors& t, Span head, Span i, std::uint16_t line, With with) {
    b.at(line);
    Tile o = b.load(t["O"].of(head), i, Space::registers);
    Tile g = b.load(t["dO"].of(head), i, Space::registers);
    Tile d = b.alloc_registers("D", i.size, 1);
    multiply(b, o, g);
    row_sum(b, d, o);
    b.store(d, t["D"].of(head), i);
    with();
}

/// The same for all row blocks, in a launch of its own. Calls with(b, head, i) for each.
template <class With>
void row_products(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, std::uint16_t line, With with) {
    gpu.launch("row_products", {p.head_axis(), uniform(rows)},
               [&](Block& b, Span head, Span i) { row_product(b, t, head, i, line, [&] { with(b, head, i); }); });
}

/// Calls work(j) for the key blocks of one part. Their numbers are part, part + parts, part + 2 parts, ... Without a
/// mask, it promises that all of them cost the same, except the first and the last.
template <class Work>
void each_dealt(Block& b, const Problem& p, const Tiles& keys, Index part, Index parts, Work work) {
    const Index n = part < keys.count() ? ceil_div(keys.count() - part, parts) : 0;
    const Tiles own(n, 1, "n");
    const auto turn = [&](Span k) { work(keys[part + k.begin * parts]); };
    if (p.mask.hides()) return b.each(own, turn);
    b.uniform(own.upto(1), turn);
    b.uniform(own.from(1).upto(n - 1), turn);
    b.uniform(own.from(std::max<Index>(n - 1, 1)), turn);
}

/// The tiles of a row block of a head.
struct Rows {
    Tile q, g, lse, d;  ///< g: dO

    Rows(Block& b, const Tensors& t, Span head, Span i)
        : q(b.load(t["Q"].of(head), i)),
          g(b.load(t["dO"].of(head), i)),
          lse(b.load(t["LSE"].of(head), i, Space::registers)),
          d(b.load(t["D"].of(head), i, Space::registers)) {}
};

/// The place of a tile of scores: its head, rows i and keys j.
struct Place {
    const Tensors& t;
    const Problem& p;
    Span head, i, j;
};

/// A tile of P, and where there is a soft-cap, its derivative.
struct Weights {
    Tile p;
    std::optional<Tile> slope;
};

/// P = exp(S - LSE_i), where S is scale Q_i K_j^T after soft-cap, biases, ALiBi and mask.
inline Weights probabilities(Block& b, const Rows& r, const Tile& k, const Place& at) {
    const auto& [t, p, head, i, j] = at;
    Tile s = b.alloc_registers("S", i.size, j.size);
    b.matmul(s, r.q, k, Trans::b, p.logit_scale());
    cap_scores(b, s, p);
    std::optional<Tile> slope;
    if (p.soft_cap) {
        slope.emplace(b.alloc_registers("slope", i.size, j.size));
        cap_slope(b, *slope, s, static_cast<float>(*p.soft_cap));
    }
    finish_capped_scores(b, s, p, t, head, i, j);
    exp_minus(b, s, r.lse);
    return {std::move(s), std::move(slope)};
}

/// dV_j += P^T dO_i, where P is after dropout.
inline void add_values(Block& b, Tile& dv, const Tile& w, const Tile& g, const Place& at) {
    if (!at.p.dropout) return b.matmul(dv, w, g, Trans::a);
    Tile kept = b.alloc_registers("P*Z", w.rows(), w.cols());
    copy(b, kept, w);
    drop_scores(b, kept, at.p, at.t, at.head, at.i, at.j);
    b.matmul(dv, kept, g, Trans::a);
}

/// dS = P * (dP - D_i), times the derivative of the soft-cap. dP = dO_i V_j^T, with the same dropout as P.
inline Tile score_gradients(Block& b, const Rows& r, const Tile& v, const Weights& w, const Place& at) {
    Tile s = b.alloc_registers("dS", at.i.size, at.j.size);
    b.matmul(s, r.g, v, Trans::b);
    drop_scores(b, s, at.p, at.t, at.head, at.i, at.j);
    subtract_rows(b, s, r.d);
    multiply(b, s, w.p);
    if (w.slope) multiply(b, s, *w.slope);
    return s;
}

/// The pseudo-code lines of the operations of key_block().
struct KeyBlockLines {
    std::uint16_t begin, rows, scores, values, gradients, keys, end;
};

/// dK_j and dV_j of a key block: sums over the query heads that share the head of K and V, and over their row blocks
/// that see it. Calls with(head, i, k, dS) for each of these row blocks.
template <class With>
void key_block(Block& b, const Tensors& t, const Problem& p, Tiles rows, Span kv, Span j, KeyBlockLines at, With with) {
    const Tiles seeing = p.seeing_rows(rows, j);
    const auto of_kv = [&](const char* name) { return t[name].slice(kv.begin); };
    b.at(seeing.count() > 0 ? at.begin : at.end);
    Tile dk = b.alloc_registers("dK", j.size, p.dim);
    Tile dv = b.alloc_registers("dV", j.size, p.dim_v);
    if (seeing.count() > 0) {
        Tile k = b.load(of_kv("K"), j);
        Tile v = b.load(of_kv("V"), j);
        b.uniform(heads_of(p, kv), [&](Span head) {
            b.uniform(seeing, [&](Span i) {
                b.at(at.rows);
                const Rows r(b, t, head, i);
                const Place place = {t, p, head, i, j};
                b.at(at.scores);
                const Weights w = probabilities(b, r, k, place);
                b.at(at.values);
                add_values(b, dv, w.p, r.g, place);
                b.at(at.gradients);
                Tile s = score_gradients(b, r, v, w, place);
                with(head, i, k, s);
                b.at(at.keys);
                b.matmul(dk, s, r.q, Trans::a, p.logit_scale());
            });
        });
        b.at(at.end);
    }
    b.store(dk, of_kv("dK"), j);
    b.store(dv, of_kv("dV"), j);
}

/// The computation's tensors, and D.
inline std::vector<TensorDecl> tensors_with_products(const Problem& p) {
    auto t = computation::attention_backward.tensors(p);
    t.push_back(declare(p, "D", Role::scratch, Meaning::statistic, Sliced::by_head, p.seq_q, 1, Dtype::f32));
    return t;
}

/// Counts of row_products() for a query head; and of key_block() for all key blocks, query heads and heads of K and V.
/// The counts of `with` are not included.
inline Prediction of_products(const Problem& p) {
    const Index Nq = p.seq_q, dv = p.dim_v, f = size_of(Dtype::f32);
    return {2 * Nq * dv * size_of(p.dtype), f * Nq, 0, 0, Nq * (2 * dv - 1)};
}
inline Prediction of_key_blocks(const Problem& p, const TileSums& s) {
    const Index d = p.dim, dv = p.dim_v, e = size_of(p.dtype), f = size_of(Dtype::f32), U = s.row_visits, E = s.scores;
    const Prediction of_head = {e * U * (d + dv) + f * 2 * U, 0, 2 * E * (2 * d + 2 * dv), E, 3 * E};
    const Prediction of_kv_head = {e * s.keys_active * (d + dv), e * p.seq_k * (d + dv), 0, 0, 0};
    return (of_head + of_finishing_gradients(p, s)).times(p.batch_heads()) + of_kv_head.times(p.kv_slices());
}

}  // namespace tilescope::backward
