#include <limits>

#include "algorithms/attention/flash_v1/algorithm.hpp"
#include "algorithms/contract/scales.hpp"
#include "algorithms/contract/scores.hpp"

namespace tilescope::flash_v1 {
namespace {

struct Head {
    const Tensors& t;
    Span at;
    Hbm Q, K, V, O, l, m;
    Scales scales;
};

void initialise(Block& b, const Head& h, Tiles rows, Index dv) {
    b.uniform(rows, [&](Span i) {
        b.at(2);
        b.store(b.alloc_registers("O", i.size, dv), h.O, i);
        b.store(b.alloc_registers("l", i.size, 1), h.l, i);
        b.store(b.alloc_registers("m", i.size, 1, -std::numeric_limits<float>::infinity()), h.m, i);
    });
}

/// Lines 8 to 13: one query block meets one key block.
void step(Block& b, Head& h, const Problem& p, const Tile& k, const Tile& v, Span i, Span j) {
    const auto column = [&](const char* name) { return b.alloc_registers(name, i.size, 1); };
    h.scales.take_queries(b, i);
    b.at(8);
    Tile q = b.load(h.Q, i);
    Tile o = b.load(h.O, i, Space::registers);
    Tile l = b.load(h.l, i, Space::registers);
    Tile m = b.load(h.m, i, Space::registers);
    b.at(9);
    Tile s = b.alloc_registers("S", i.size, j.size);
    b.matmul(s, q, k, Trans::b, h.scales.of_scores(b, p.logit_scale()));
    h.scales.scale_scores(b, s);
    finish_scores(b, s, p, h.t, h.at, i, j);
    b.at(10);
    Tile m_tile = column("m~"), l_tile = column("l~");
    row_max(b, m_tile, s);
    exp_minus(b, s, m_tile);
    row_sum(b, l_tile, s);
    b.at(11);
    Tile m_new = column("m_new"), l_new = column("l_new"), old_factor = column("c");
    copy(b, m_new, m);
    update_max(b, m_new, m_tile);
    copy(b, old_factor, m);
    exp_minus(b, old_factor, m_new);
    exp_minus(b, m_tile, m_new);  // from here on m~ holds exp(m~ - m_new)
    copy(b, l_new, l);
    scale_rows(b, l_new, old_factor);
    scale_rows(b, l_tile, m_tile);
    add(b, l_new, l_tile);
    b.at(12);
    scale_rows(b, l, old_factor);
    divide_rows(b, l, l_new);
    divide_rows(b, m_tile, l_new);
    scale_rows(b, o, l);
    Tile pv = b.alloc_registers("PV", i.size, p.dim_v);
    drop_scores(b, s, p, h.t, h.at, i, j);
    h.scales.scale_weights(b, s);
    b.matmul(pv, s, v, Trans::none, h.scales.of_values());
    scale_rows(b, pv, m_tile);
    add(b, o, pv);
    b.store(o, h.O, i);
    b.at(13);
    b.store(l_new, h.l, i);
    b.store(m_new, h.m, i);
}

}  // namespace

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm Q = t["Q"], K = t["K"], V = t["V"], O = t["O"], l = t["l"], m = t["m"];
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    store_kept(gpu, t, p, rows, keys);
    gpu.launch("flash_v1", {p.head_axis()}, [&](Block& b, Span head) {
        Head h = {
            t, head, Q.of(head), K.of(head), V.of(head), O.of(head), l.of(head), m.of(head), Scales(b, p, t, head, 17)};
        initialise(b, h, rows, p.dim_v);
        const auto key_block = [&](Span j) {
            const Tiles seeing = p.seeing_rows(rows, j);
            if (seeing.count() == 0) return;
            h.scales.take_keys(b, j);
            h.scales.take_values(b, j);
            b.at(6);
            Tile k = b.load(h.K, j);
            Tile v = b.load(h.V, j);
            b.uniform(seeing, [&](Span i) { step(b, h, p, k, v, i, j); });
        };
        b.graded(keys, p.seeing(rows), key_block);
    });
}

}  // namespace tilescope::flash_v1
