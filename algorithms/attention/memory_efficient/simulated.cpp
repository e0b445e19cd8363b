#include <limits>

#include "algorithms/attention/memory_efficient/algorithm.hpp"

namespace tilescope::memory_efficient {

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm Q = t["Q"], K = t["K"], V = t["V"], O = t["O"];
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    store_kept(gpu, t, p, rows, keys);
    gpu.launch("memory_efficient", {p.head_axis(), p.row_axis(rows, keys)}, [&](Block& b, Span head, Span i) {
        b.at(2);
        Tile o = b.alloc_registers("O", i.size, p.dim_v);
        Tile sum = b.alloc_registers("s'", i.size, 1);
        Tile m = b.alloc_registers("m'", i.size, 1, -std::numeric_limits<float>::infinity());
        b.uniform(p.visible_keys(keys, i), [&](Span j) {
            b.at(4);
            Tile s = b.alloc_registers("S", i.size, j.size);
            {
                Tile q = b.load(Q.of(head), i);
                Tile k = b.load(K.of(head), j);
                b.matmul(s, q, k, Trans::b, p.logit_scale());
            }
            finish_scores(b, s, p, t, head, i, j);
            b.at(5);
            Tile correction = b.alloc_registers("c", i.size, 1);
            copy(b, correction, m);
            update_row_max(b, m, s);
            exp_minus(b, correction, m);
            exp_minus(b, s, m);
            scale_rows(b, sum, correction);
            update_row_sum(b, sum, s);
            b.at(6);
            scale_rows(b, o, correction);
            b.at(7);
            drop_scores(b, s, p, t, head, i, j);
            Tile w = b.alloc("P", i.size, j.size, Space::sram, p.dtype);
            copy(b, w, s);
            Tile v = b.load(V.of(head), j);
            b.matmul(o, w, v, Trans::none);
        });
        b.at(8);
        divide_rows(b, o, sum);
        b.store(o, O.of(head), i);
    });
}

}  // namespace tilescope::memory_efficient
