#include "algorithms/attention_backward/flash_v2_literal_backward/algorithm.hpp"

namespace tilescope::flash_v2_literal_backward {

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    const Hbm dQ = t["dQ"];
    backward::row_products(gpu, t, p, rows, 4, [&](Block& b, Span head, Span i) {
        b.at(3);
        b.store(b.alloc_registers("dQ", i.size, p.dim), dQ.of(head), i);
    });
    gpu.launch("keys", {kv_axis(p), ordered(key_axis(p, keys, rows))}, [&](Block& b, Span kv, Span j) {
        backward::key_block(b, t, p, rows, kv, j, {6, 9, 10, 12, 13, 16, 18},
                            [&](Span head, Span i, const Tile& k, const Tile& ds) {
                                b.at(15);
                                Tile dq = b.load(dQ.of(head), i, Space::registers);
                                b.matmul(dq, ds, k, Trans::none, p.logit_scale());
                                b.store(dq, dQ.of(head), i);
                            });
    });
}

}  // namespace tilescope::flash_v2_literal_backward
