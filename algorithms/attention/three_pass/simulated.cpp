#include <limits>

#include "algorithms/attention/three_pass/algorithm.hpp"

namespace tilescope::three_pass {

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm Q = t["Q"], K = t["K"], V = t["V"], O = t["O"];
    const Tiles rows(p.seq_q, tile.br), keys(p.seq_k, tile.bc);
    gpu.launch("three_pass", {uniform(p.batch_heads()), p.row_axis(rows)}, [&](Block& b, Span head, Span i) {
        const Index kv = p.kv_slice(head);
        const Tiles visible = p.visible_keys(keys, i);
        b.at(2);
        Tile q = b.load(Q.slice(head), i);
        Tile m = b.alloc_registers("m", i.size, 1, -std::numeric_limits<float>::infinity());
        Tile l = b.alloc_registers("l", i.size, 1);
        Tile o = b.alloc_registers("O", i.size, p.dim_v);
        const auto scores = [&](Span j) {
            Tile k = b.load(K.slice(kv), j);
            Tile s = b.alloc_registers("S", i.size, j.size);
            b.matmul(s, q, k, Trans::b, p.logit_scale());
            mask_causal(b, s, p, i, j);
            return s;
        };
        b.uniform(visible, [&](Span j) {
            b.at(3);
            Tile s = scores(j);
            update_row_max(b, m, s);
        });
        b.uniform(visible, [&](Span j) {
            b.at(4);
            Tile s = scores(j);
            exp_minus(b, s, m);
            update_row_sum(b, l, s);
        });
        b.uniform(visible, [&](Span j) {
            b.at(5);
            Tile s = scores(j);
            exp_minus(b, s, m);
            divide_rows(b, s, l);
            Tile v = b.load(V.slice(kv), j);
            b.at(6);
            b.matmul(o, s, v, Trans::none);
        });
        b.at(7);
        b.store(o, O.slice(head), i);
    });
}

}  // namespace tilescope::three_pass
