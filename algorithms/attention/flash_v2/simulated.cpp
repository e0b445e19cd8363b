#include <limits>

#include "algorithms/attention/flash_v2/algorithm.hpp"
#include "algorithms/contract/scales.hpp"
#include "algorithms/contract/scores.hpp"
#include "algorithms/contract/weight_range.hpp"

namespace tilescope::flash_v2 {

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm Q = t["Q"], K = t["K"], V = t["V"], O = t["O"], LSE = t["LSE"];
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    store_kept(gpu, t, p, rows, keys);
    gpu.launch("flash_v2", {p.head_axis(), p.row_axis(rows, keys)}, [&](Block& b, Span head, Span i) {
        Scales scales(b, p, t, head, 18);
        scales.take_queries(b, i);
        b.at(4);
        Tile q = b.load(Q.of(head), i);
        b.at(5);
        Tile o = b.alloc_registers("O", i.size, p.dim_v);
        Tile l = b.alloc_registers("l", i.size, 1);
        Tile m = b.alloc_registers("m", i.size, 1, -std::numeric_limits<float>::infinity());
        Shift shift(b, p, i.size);
        b.uniform(p.visible_keys(keys, i), [&](Span j) {
            scales.take_keys(b, j);
            scales.take_values(b, j);
            b.at(7);
            Tile k = b.load(K.of(head), j);
            Tile v = b.load(V.of(head), j);
            b.at(8);
            Tile s = b.alloc_registers("S", i.size, j.size);
            b.matmul(s, q, k, Trans::b, scales.of_scores(b, p.logit_scale()));
            scales.scale_scores(b, s);
            finish_scores(b, s, p, t, head, i, j);
            b.at(9);
            Tile correction = b.alloc_registers("c", i.size, 1);
            copy(b, correction, m);
            update_row_max(b, m, s);
            hold_maxima(b, m, correction, p);
            exp_minus(b, correction, m);
            exp_minus(b, s, shift.of(b, m));
            scale_rows(b, l, correction);
            update_row_sum(b, l, s);
            b.at(10);
            scale_rows(b, o, correction);
            drop_scores(b, s, p, t, head, i, j);
            scales.scale_weights(b, s);
            b.matmul(o, s, v, Trans::none, scales.of_values());
        });
        b.at(12);
        divide_rows(b, o, l);
        b.at(13);
        add_log(b, m, l);
        shift.out_of(b, m);
        b.at(14);
        b.store(o, O.of(head), i);
        b.at(15);
        b.store(m, LSE.of(head), i);
    });
}

}  // namespace tilescope::flash_v2
