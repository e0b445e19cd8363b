#include <limits>

#include "algorithms/softmax/softmax_online/algorithm.hpp"

namespace tilescope::softmax_online {

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm X = t["X"], Y = t["Y"];
    const Tiles rows(p.seq_q, tile.br, "i"), columns(p.seq_k, tile.bc, "j");
    gpu.launch("softmax_online", {p.head_axis(), uniform(rows)}, [&](Block& b, Span head, Span i) {
        const Hbm Xh = X.of(head), Yh = Y.of(head);
        b.at(2);
        Tile m = b.alloc_registers("m", i.size, 1, -std::numeric_limits<float>::infinity());
        Tile d = b.alloc_registers("d", i.size, 1);
        b.uniform(columns, [&](Span j) {
            b.at(4);
            Tile x = b.load(Xh, i, j, Space::registers);
            Tile correction = b.alloc_registers("c", i.size, 1);
            copy(b, correction, m);
            update_row_max(b, m, x);
            b.at(5);
            exp_minus(b, correction, m);
            exp_minus(b, x, m);
            scale_rows(b, d, correction);
            update_row_sum(b, d, x);
        });
        b.uniform(columns, [&](Span j) {
            b.at(7);
            Tile x = b.load(Xh, i, j, Space::registers);
            exp_minus(b, x, m);
            divide_rows(b, x, d);
            b.store(x, Yh, i, j);
        });
    });
}

}  // namespace tilescope::softmax_online
