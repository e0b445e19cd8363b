#include "algorithms/attention_backward/flash_v2_backward/algorithm.hpp"

namespace tilescope::flash_v2_backward {

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    const Hbm dQ = t["dQ"], sums = t[accumulator(p)];
    backward::row_products(gpu, t, p, rows, 1, [&](Block& b, Span head, Span i) {
        b.store(b.alloc_registers("dQ", i.size, p.dim), sums.of(head), i);
    });
    gpu.launch("keys", {kv_axis(p), key_axis(p, keys, rows)}, [&](Block& b, Span kv, Span j) {
        backward::key_block(b, t, p, rows, kv, j, {3, 4, 5, 6, 7, 9, 10},
                            [&](Span head, Span i, const Tile& k, const Tile& ds) {
                                b.at(8);
                                Tile dq = b.alloc_registers("dQ", i.size, p.dim);
                                b.matmul(dq, ds, k, Trans::none, p.logit_scale());
                                b.reduce_add(dq, sums.of(head), i);
                            });
    });
    if (p.dtype == Dtype::f32) return;
    gpu.launch("convert", {p.head_axis(), uniform(rows)}, [&](Block& b, Span head, Span i) {
        b.at(11);
        b.store(b.load(sums.of(head), i, Space::registers), dQ.of(head), i);
    });
}

}  // namespace tilescope::flash_v2_backward
