#include "algorithms/attention/standard/algorithm.hpp"
#include "algorithms/contract/tile_sums.hpp"
#include "algorithms/softmax/softmax_naive/algorithm.hpp"
#include "algorithms/softmax/softmax_safe/algorithm.hpp"

namespace tilescope::standard {
namespace {

void scores(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys) {
    const Hbm Q = t["Q"], K = t["K"], S = t["S"];
    gpu.launch("scores", {p.head_axis(), uniform(rows), uniform(keys)}, [&](Block& b, Span head, Span i, Span j) {
        b.at(2);
        Tile q = b.load(Q.of(head), i);
        Tile k = b.load(K.of(head), j);
        Tile s = b.alloc_registers("S", i.size, j.size);
        b.matmul(s, q, k, Trans::b, p.logit_scale());
        finish_scores(b, s, p, t, head, i, j);
        b.store(s, S.of(head), i, j);
    });
}

void softmax_resident(Block& b, const Hbm& S, const Hbm& P, Span i, bool safe) {
    b.at(4);
    Tile s = b.load(S, i, Space::registers);
    Tile m = b.alloc_registers("m", i.size, 1);
    if (safe) row_max(b, m, s);
    b.at(5);
    safe ? exp_minus(b, s, m) : exp(b, s);
    Tile l = b.alloc_registers("l", i.size, 1);
    row_sum(b, l, s);
    divide_rows(b, s, l);
    b.store(s, P, i);
}

void softmax(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys) {
    const Hbm S = t["S"], P = t["P"];
    const bool safe = p.softmax == Softmax::safe;
    const Index resident = resident_rows(p, gpu.capacity(Space::registers));
    if (resident == 0)
        gpu.note("a row of S (" + std::to_string(p.seq_k) +
                 " f32) does not fit in registers: launch 2 streams it and "
                 "reads S " +
                 (safe ? "three times" : "twice"));
    const Tiles blocks = resident > 0 ? even_rows(p, resident) : rows;
    gpu.launch("softmax", {p.head_axis(), uniform(blocks)}, [&](Block& b, Span head, Span i) {
        if (resident > 0)
            softmax_resident(b, S.of(head), P.of(head), i, safe);
        else if (safe)
            softmax_safe::stream_rows(b, S.of(head), P.of(head), i, keys, {3, 4, 3, 5, 5});
        else
            softmax_naive::stream_rows(b, S.of(head), P.of(head), i, keys, {3, 5, 5});
    });
}

void output(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys) {
    const Hbm P = t["P"], V = t["V"], O = t["O"];
    gpu.launch("output", {p.head_axis(), uniform(rows)}, [&](Block& b, Span head, Span i) {
        b.at(6);
        Tile o = b.alloc_registers("O", i.size, p.dim_v);
        b.uniform(keys, [&](Span j) {
            b.at(7);
            Tile w = b.load(P.of(head), i, j);
            drop_scores(b, w, p, t, head, i, j);
            Tile v = b.load(V.of(head), j);
            b.matmul(o, w, v, Trans::none);
        });
        b.at(8);
        b.store(o, O.of(head), i);
    });
}

}  // namespace

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    store_kept(gpu, t, p, rows, keys);
    scores(gpu, t, p, rows, keys);
    softmax(gpu, t, p, rows, keys);
    output(gpu, t, p, rows, keys);
}

std::vector<TensorDecl> tensors(const Problem& p, const Tiling&) {
    auto t = computation::attention.tensors(p);
    t.push_back(declare(p, "S", Role::scratch, Meaning::score, Sliced::by_head, p.seq_q, p.seq_k, p.score_type()));
    t.push_back(declare(p, "P", Role::scratch, Meaning::score, Sliced::by_head, p.seq_q, p.seq_k, p.weight_type()));
    return t;
}

Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec& gpu) {
    const Index Nq = p.seq_q, Nk = p.seq_k, d = p.dim, dv = p.dim_v, N = Nq * Nk;
    const Index e = size_of(p.dtype), s = size_of(p.score_type()), w = size_of(p.weight_type());
    const Index Tr = ceil_div(Nq, tile.br), Tc = ceil_div(Nk, tile.bc);
    const bool safe = p.softmax == Softmax::safe, resident = resident_rows(p, gpu.registers_per_sm) > 0;
    const Index passes = resident ? 1 : safe ? 3 : 2;
    const Index exps = resident ? N : 2 * N;
    // max, subtract, add, divide: once each for a resident row; a streamed one subtracts again for the output.
    const Index other = safe ? (resident ? 4 : 5) * N - 2 * Nq : 2 * N - Nq;
    const TileSums all = tile_sums(p, tile, false);
    return (Prediction{(Tc * Nq * d + Tr * Nk * (d + dv)) * e + N * (passes * s + w), Nq * dv * e + N * (s + w),
                       2 * N * (d + dv), exps, other} +
            of_finishing(p, all) + of_dropping(p, all))
        .times(p.batch_heads());
}

std::optional<Idealised> idealised(const Problem& p) {
    if (p.bias || p.dropout.stored) return std::nullopt;  // the paper has neither
    const Index Nq = p.seq_q, Nk = p.seq_k, d = p.dim, dv = p.dim_v, N = Nq * Nk, e = size_of(p.dtype);
    const Bytes scores = N * (size_of(p.score_type()) + size_of(p.weight_type()));
    const Prediction count = {(Nq * d + Nk * d + Nk * dv) * e + scores, Nq * dv * e + scores, 2 * N * (d + dv), N,
                              4 * N - 2 * Nq};
    return Idealised{"Algorithm 0 of the FlashAttention paper", count.times(p.batch_heads()),
                     "the paper lets each matrix product read its operands once; a tiled product reads Q once per key "
                     "block and K and V once per row block"};
}

}  // namespace tilescope::standard
