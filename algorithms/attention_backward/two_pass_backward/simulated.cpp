#include "algorithms/attention_backward/two_pass_backward/algorithm.hpp"

namespace tilescope::two_pass_backward {
namespace {

void row_block(Block& b, const Tensors& t, const Problem& p, Tiles keys, Span head, Span i) {
    const Tiles visible = p.visible_keys(keys, i);
    b.at(visible.count() > 0 ? 11 : 16);
    Tile dq = b.alloc_registers("dQ", i.size, p.dim);
    if (visible.count() > 0) {
        const backward::Rows r(b, t, head, i);
        b.uniform(visible, [&](Span j) {
            b.at(12);
            Tile k = b.load(t["K"].of(head), j);
            Tile v = b.load(t["V"].of(head), j);
            b.at(13);
            const backward::Place place = {t, p, head, i, j};
            const backward::Weights w = backward::probabilities(b, r, k, place);
            b.at(14);
            Tile s = backward::score_gradients(b, r, v, w, place);
            b.at(15);
            b.matmul(dq, s, k, Trans::none, p.logit_scale());
        });
        b.at(16);
    }
    b.store(dq, t["dQ"].of(head), i);
}

}  // namespace

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    backward::row_products(gpu, t, p, rows, 1, [](Block&, Span, Span) {});
    gpu.launch("keys", {kv_axis(p), key_axis(p, keys, rows)}, [&](Block& b, Span kv, Span j) {
        backward::key_block(b, t, p, rows, kv, j, {3, 4, 5, 6, 7, 8, 9}, [](Span, Span, const Tile&, const Tile&) {});
    });
    gpu.launch("rows", {p.head_axis(), p.row_axis(rows, keys)},
               [&](Block& b, Span head, Span i) { row_block(b, t, p, keys, head, i); });
}

}  // namespace tilescope::two_pass_backward
