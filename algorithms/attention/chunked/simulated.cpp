#include <limits>

#include "algorithms/attention/chunked/algorithm.hpp"
#include "algorithms/contract/scales.hpp"
#include "algorithms/contract/scores.hpp"

namespace tilescope::chunked {
namespace {

struct Head {
    const Tensors& t;
    Span at;
    Hbm Q, K, V, O, m_j, s_j, v_j;
    Scales scales;
};

/// Lines 3 to 5: the summary of key chunk j goes to rows `at` of the scratch tensors.
void summarise(Block& b, Head& h, const Problem& p, const Tile& q, Tile& greatest, Span i, Span j, Span at) {
    h.scales.take_keys(b, j);
    h.scales.take_values(b, j);
    b.at(3);
    Tile k = b.load(h.K, j);
    Tile v = b.load(h.V, j);
    Tile s = b.alloc_registers("S", i.size, j.size);
    b.matmul(s, q, k, Trans::b, h.scales.of_scores(b, p.logit_scale()));
    h.scales.scale_scores(b, s);
    finish_scores(b, s, p, h.t, h.at, i, j);
    b.at(4);
    Tile m = b.alloc_registers("m_j", i.size, 1);
    Tile sum = b.alloc_registers("s_j", i.size, 1);
    Tile pv = b.alloc_registers("v_j", i.size, p.dim_v);
    row_max(b, m, s);
    exp_minus(b, s, m);
    row_sum(b, sum, s);
    h.scales.scale_weights(b, s);
    b.matmul(pv, s, v, Trans::none, h.scales.of_values());
    b.at(5);
    b.store(m, h.m_j, at);
    b.store(sum, h.s_j, at);
    b.store(pv, h.v_j, at);
    update_max(b, greatest, m);
}

/// Lines 6 and 7: adds one summary to `sum` and `o`.
void combine(Block& b, const Head& h, const Tile& greatest, Tile& sum, Tile& o, Span at) {
    b.at(6);
    Tile weight = b.load(h.m_j, at, Space::registers);
    Tile s = b.load(h.s_j, at, Space::registers);
    Tile pv = b.load(h.v_j, at, Space::registers);
    b.at(7);
    exp_minus(b, weight, greatest);
    scale_rows(b, s, weight);
    add(b, sum, s);
    scale_rows(b, pv, weight);
    add(b, o, pv);
}

}  // namespace

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm Q = t["Q"], K = t["K"], V = t["V"], O = t["O"], m_j = t["m_j"], s_j = t["s_j"], v_j = t["v_j"];
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    gpu.launch("chunked", {p.head_axis()}, [&](Block& b, Span head) {
        Head h = {t,          head,         Q.of(head),   K.of(head),   V.of(head),
                  O.of(head), m_j.of(head), s_j.of(head), v_j.of(head), Scales(b, p, t, head, 9)};
        const auto query_chunk = [&](Span i) {
            const Tiles visible = p.visible_keys(keys, i);
            const auto summary = [&](Span j) { return Span{j.begin / tile.bc * i.size, i.size}; };
            h.scales.take_queries(b, i);
            b.at(2);
            Tile o = b.alloc_registers("v", i.size, p.dim_v);
            Tile sum = b.alloc_registers("s", i.size, 1);
            Tile greatest = b.alloc_registers("M", i.size, 1, -std::numeric_limits<float>::infinity());
            Tile q = b.load(h.Q, i);
            b.uniform(visible, [&](Span j) { summarise(b, h, p, q, greatest, i, j, summary(j)); });
            b.uniform(visible, [&](Span j) { combine(b, h, greatest, sum, o, summary(j)); });
            b.at(8);
            divide_rows(b, o, sum);
            b.store(o, h.O, i);
        };
        b.graded(rows, p.visible(keys), query_chunk);
    });
}

}  // namespace tilescope::chunked
