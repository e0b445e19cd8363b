#include <limits>

#include "algorithms/attention/memory_efficient/algorithm.hpp"
#include "algorithms/contract/scales.hpp"
#include "algorithms/contract/scores.hpp"

namespace tilescope::memory_efficient {
namespace {

struct Head {
    const Tensors& t;
    const Problem& p;
    Span at;
    Hbm Q, K, V, O;
    Scales scales;

    Head(Block& b, const Tensors& tensors, const Problem& problem, Span head, Span i)
        : t(tensors),
          p(problem),
          at(head),
          Q(t["Q"].of(at)),
          K(t["K"].of(at)),
          V(t["V"].of(at)),
          O(t["O"].of(at)),
          scales(b, p, t, at, 9) {
        scales.take_queries(b, i);
    }
};

/// m' and s' of a row block.
struct Statistics {
    Tile sum, m;

    Statistics(Block& b, Span i)
        : sum(b.alloc("s'", i.size, 1, Space::sram)),
          m(b.alloc("m'", i.size, 1, Space::sram, Dtype::f32, -std::numeric_limits<float>::infinity())) {}
};

/// Line 4: the logits of tile (i, j).
Tile score(Block& b, Head& h, Span i, Span j) {
    h.scales.take_keys(b, j);
    b.at(4);
    Tile s = b.alloc_registers("S", i.size, j.size);
    {
        Tile q = b.load(h.Q, i);
        Tile k = b.load(h.K, j);
        b.matmul(s, q, k, Trans::b, h.scales.of_scores(b, h.p.logit_scale()));
    }
    h.scales.scale_scores(b, s);
    finish_scores(b, s, h.p, h.t, h.at, i, j);
    return s;
}

/// Line 5: turns S into P and updates the statistics. Returns the factor by which O_i has to be rescaled.
Tile update(Block& b, Statistics& of_rows, Tile& s) {
    b.at(5);
    Tile correction = b.alloc_registers("c", s.rows(), 1);
    copy(b, correction, of_rows.m);
    update_row_max(b, of_rows.m, s);
    exp_minus(b, correction, of_rows.m);
    exp_minus(b, s, of_rows.m);
    scale_rows(b, of_rows.sum, correction);
    update_row_sum(b, of_rows.sum, s);
    return correction;
}

/// Line 7: copies P to SRAM, as the left operand of the second product.
Tile to_sram(Block& b, Head& h, Tile& s, Span i, Span j) {
    h.scales.take_values(b, j);
    b.at(7);
    drop_scores(b, s, h.p, h.t, h.at, i, j);
    h.scales.scale_weights(b, s);
    Tile w = b.alloc("P", i.size, j.size, Space::sram, h.p.query_type());
    copy(b, w, s);
    return w;
}

void attend_in_registers(Block& b, Head h, Span i, const Tiles& keys) {
    b.at(2);
    Tile o = b.alloc_registers("O", i.size, h.p.dim_v);
    Statistics of_rows(b, i);
    b.uniform(keys, [&](Span j) {
        Tile s = score(b, h, i, j);
        const Tile correction = update(b, of_rows, s);
        b.at(6);
        scale_rows(b, o, correction);
        const Tile w = to_sram(b, h, s, i, j);
        const Tile v = b.load(h.V, j);
        b.matmul(o, w, v, Trans::none, h.scales.of_values());
    });
    b.at(8);
    divide_rows(b, o, of_rows.sum);
    b.store(o, h.O, i);
}

/// The unfinished O_i is in HBM, in `unfinished`, while the next scores are computed. The first key block does not read
/// it, and the last one writes O_i itself.
void attend_in_hbm(Block& b, Head h, const Hbm& unfinished, Span i, const Tiles& keys, const Tiles& columns) {
    b.at(2);
    Statistics of_rows(b, i);
    const auto step = [&](Span j, bool first, bool last) {
        Tile s = score(b, h, i, j);
        const Tile correction = update(b, of_rows, s);
        const Tile w = to_sram(b, h, s, i, j);
        b.uniform(columns, [&](Span c) {
            b.at(7);
            Tile o = first ? b.alloc_registers("O", i.size, c.size) : b.load(unfinished, i, c, Space::registers);
            if (!first) {
                b.at(6);
                scale_rows(b, o, correction);
                b.at(7);
            }
            const Tile v = b.load(h.V, j, c);
            b.matmul(o, w, v, Trans::none, h.scales.of_values());
            if (!last) return b.store(o, unfinished, i, c);
            b.at(8);
            divide_rows(b, o, of_rows.sum);
            b.store(o, h.O, i, c);
        });
    };
    const Index n = keys.count();
    const auto turns = [&](Index begin, Index end) {  // key blocks that cost the same
        return end > begin ? keys.within({keys[begin].begin, keys[end - 1].end() - keys[begin].begin}) : keys.upto(0);
    };
    b.uniform(turns(0, std::min<Index>(n, 1)), [&](Span j) { step(j, true, n == 1); });
    b.uniform(turns(1, n - 1), [&](Span j) { step(j, false, false); });
    b.uniform(turns(std::max<Index>(1, n - 1), n), [&](Span j) { step(j, false, true); });
    if (n > 0) return;
    b.at(8);
    b.uniform(columns, [&](Span c) {
        const Tile o = b.alloc_registers("O", i.size, c.size);
        b.store(o, h.O, i, c);
    });
}

}  // namespace

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j"), columns(p.dim_v, columns_at_once(tile), "c");
    store_kept(gpu, t, p, rows, keys);
    if (keeps_output_in_registers(p)) {
        gpu.launch("memory_efficient", {p.head_axis(), p.row_axis(rows, keys)}, [&](Block& b, Span head, Span i) {
            attend_in_registers(b, Head(b, t, p, head, i), i, p.visible_keys(keys, i));
        });
    } else {
        // The first and the last key block do not cost what the others do: the cost of a row block is not graded.
        const Axis row_axis = p.visible(keys).all() ? uniform(rows) : each(rows);
        const Hbm unfinished = t[p.output_type() == Dtype::f32 ? "O" : "O_acc"];
        gpu.launch("memory_efficient", {p.head_axis(), row_axis}, [&](Block& b, Span head, Span i) {
            attend_in_hbm(b, Head(b, t, p, head, i), unfinished.of(head), i, p.visible_keys(keys, i), columns);
        });
    }
}

}  // namespace tilescope::memory_efficient
