#include "algorithms/attention_backward/flash_v2_deterministic_backward/algorithm.hpp"

namespace tilescope::flash_v2_deterministic_backward {

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j"), parts(parts_of(tile), 1, "s");
    const Hbm dQ = t["dQ"], sums = t["dQ~"];
    const auto rows_of = [&](Span part, Span i) { return Span{part.begin * p.seq_q + i.begin, i.size}; };
    backward::row_products(gpu, t, p, rows, 1, [&](Block& b, Span head, Span i) {
        const Tile zeros = b.alloc_registers("dQ", i.size, p.dim);
        b.uniform(parts, [&](Span s) { b.store(zeros, sums.of(head), rows_of(s, i)); });
    });
    gpu.launch("keys", {kv_axis(p), each(parts)}, [&](Block& b, Span kv, Span s) {
        const auto key_block = [&](Span j) {
            backward::key_block(b, t, p, rows, kv, j, {3, 4, 5, 6, 7, 9, 10},
                                [&](Span head, Span i, const Tile& k, const Tile& ds) {
                                    b.at(8);
                                    Tile dq = b.alloc_registers("dQ", i.size, p.dim);
                                    b.matmul(dq, ds, k, Trans::none, p.logit_scale());
                                    b.reduce_add(dq, sums.of(head), rows_of(s, i));
                                });
        };
        backward::each_dealt(b, p, keys, s.begin, parts.count(), key_block);
    });
    gpu.launch("add_up", {p.head_axis(), uniform(rows)}, [&](Block& b, Span head, Span i) {
        b.at(11);
        Tile sum = b.load(sums.of(head), rows_of(parts[0], i), Space::registers);
        b.uniform(parts.from(1), [&](Span s) { add(b, sum, b.load(sums.of(head), rows_of(s, i), Space::registers)); });
        b.store(sum, dQ.of(head), i);
    });
}

}  // namespace tilescope::flash_v2_deterministic_backward
