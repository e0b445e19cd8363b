#include <limits>

#include "algorithms/attention/three_pass/algorithm.hpp"
#include "algorithms/contract/scales.hpp"
#include "algorithms/contract/scores.hpp"

namespace tilescope::three_pass {

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm Q = t["Q"], K = t["K"], V = t["V"], O = t["O"];
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    gpu.launch("three_pass", {p.head_axis(), p.row_axis(rows, keys)}, [&](Block& b, Span head, Span i) {
        const Tiles visible = p.visible_keys(keys, i);
        Scales scales(b, p, t, head, 8);
        scales.take_queries(b, i);
        b.at(2);
        Tile q = b.load(Q.of(head), i);
        Tile m = b.alloc_registers("m", i.size, 1, -std::numeric_limits<float>::infinity());
        Tile l = b.alloc_registers("l", i.size, 1);
        Tile o = b.alloc_registers("O", i.size, p.dim_v);
        const auto scores = [&](Span j) {
            Tile k = b.load(K.of(head), j);
            Tile s = b.alloc_registers("S", i.size, j.size);
            b.matmul(s, q, k, Trans::b, scales.of_scores(b, p.logit_scale()));
            scales.scale_scores(b, s);
            finish_scores(b, s, p, t, head, i, j);
            return s;
        };
        b.uniform(visible, [&](Span j) {
            scales.take_keys(b, j);
            b.at(3);
            Tile s = scores(j);
            update_row_max(b, m, s);
        });
        b.uniform(visible, [&](Span j) {
            scales.take_keys(b, j);
            b.at(4);
            Tile s = scores(j);
            exp_minus(b, s, m);
            update_row_sum(b, l, s);
        });
        b.uniform(visible, [&](Span j) {
            scales.take_keys(b, j);
            scales.take_values(b, j);
            b.at(5);
            Tile s = scores(j);
            exp_minus(b, s, m);
            divide_rows(b, s, l);
            Tile v = b.load(V.of(head), j);
            b.at(6);
            scales.scale_weights(b, s);
            b.matmul(o, s, v, Trans::none, scales.of_values());
        });
        b.at(7);
        b.store(o, O.of(head), i);
    });
}

}  // namespace tilescope::three_pass
