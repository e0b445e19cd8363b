#include "algorithms/attention_backward/flash_v1_backward/algorithm.hpp"
#include "algorithms/contract/kv_heads.hpp"
#include "algorithms/contract/scores.hpp"
#include "core/machine/gradient_ops.hpp"

namespace tilescope::flash_v1_backward {
namespace {

void initialise(Block& b, const Tensors& t, const Problem& p, Tiles rows, Tiles keys, Span kv) {
    b.uniform(heads_of(p, kv), [&](Span head) {
        b.uniform(rows, [&](Span i) {
            b.at(5);
            b.store(b.alloc_registers("dQ", i.size, p.dim), t["dQ"].of(head), i);
        });
    });
    b.uniform(keys, [&](Span j) {
        b.at(5);
        b.store(b.alloc_registers("dK", j.size, p.dim), t["dK"].slice(kv.begin), j);
        b.store(b.alloc_registers("dV", j.size, p.dim_v), t["dV"].slice(kv.begin), j);
    });
}

/// What stays on chip while rows stream past.
struct KeyBlock {
    Tile k, v, dk, dv;
};

/// Lines 10 to 22: one row block of a head meets one key block.
void step(Block& b, const Tensors& t, const Problem& p, KeyBlock& keys, Span head, Span i, Span j) {
    const auto load = [&](const char* name, Space to) { return b.load(t[name].of(head), i, to); };
    b.at(10);
    Tile q = load("Q", Space::sram);
    Tile o = load("O", Space::registers);
    Tile g = load("dO", Space::sram);
    Tile dq = load("dQ", Space::sram);
    Tile l = load("l", Space::registers);
    Tile m = load("m", Space::registers);
    b.at(11);
    Tile s = b.alloc_registers("S", i.size, j.size);
    b.matmul(s, q, keys.k, Trans::b, p.logit_scale());
    b.at(12);
    apply_mask(b, s, p, i, j);
    b.at(13);
    exp_minus(b, s, m);
    divide_rows(b, s, l);
    if (p.dropout) {
        b.at(15);
        Tile kept = b.alloc_registers("P~", i.size, j.size);
        copy(b, kept, s);
        drop_scores(b, kept, p, t, head, i, j);
        b.at(16);
        b.matmul(keys.dv, kept, g, Trans::a);
    } else {
        b.at(16);
        b.matmul(keys.dv, s, g, Trans::a);
    }
    b.at(17);
    Tile ds = b.alloc_registers("dP", i.size, j.size);
    b.matmul(ds, g, keys.v, Trans::b);
    if (p.dropout) {
        b.at(18);
        drop_scores(b, ds, p, t, head, i, j);
    }
    b.at(19);
    Tile d = b.alloc_registers("D", i.size, 1);
    multiply(b, o, g);
    row_sum(b, d, o);
    b.at(20);
    subtract_rows(b, ds, d);
    multiply(b, ds, s);
    b.at(21);
    b.matmul(dq, ds, keys.k, Trans::none, p.logit_scale());
    b.store(dq, t["dQ"].of(head), i);
    b.at(22);
    b.matmul(keys.dk, ds, q, Trans::a, p.logit_scale());
}

}  // namespace

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    gpu.launch("flash_v1_backward", {kv_axis(p)}, [&](Block& b, Span kv) {
        initialise(b, t, p, rows, keys, kv);
        const auto of_kv = [&](const char* name) { return t[name].slice(kv.begin); };
        const auto key_block = [&](Span j) {
            const Tiles seeing = p.seeing_rows(rows, j);
            if (seeing.count() == 0) return;
            b.at(7);
            Tile k = b.load(of_kv("K"), j);
            Tile v = b.load(of_kv("V"), j);
            b.at(8);
            KeyBlock block = {std::move(k), std::move(v), b.alloc_registers("dK~", j.size, p.dim),
                              b.alloc_registers("dV~", j.size, p.dim_v)};
            b.uniform(heads_of(p, kv),
                      [&](Span head) { b.uniform(seeing, [&](Span i) { step(b, t, p, block, head, i, j); }); });
            b.at(24);
            b.store(block.dk, of_kv("dK"), j);
            b.store(block.dv, of_kv("dV"), j);
        };
        b.graded(keys, p.seeing(rows), key_block);
    });
}

}  // namespace tilescope::flash_v1_backward
