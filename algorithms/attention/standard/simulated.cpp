#include "algorithms/attention/standard/algorithm.hpp"
#include "algorithms/attention/standard/graph.hpp"
#include "algorithms/contract/scales.hpp"
#include "algorithms/contract/scores.hpp"
#include "algorithms/softmax/softmax_naive/algorithm.hpp"
#include "algorithms/softmax/softmax_safe/algorithm.hpp"
#include "core/text/message.hpp"

namespace tilescope::standard {
namespace {

void scores(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys, const Step& step) {
    const Hbm Q = t[step.from], K = t[step.with], S = t[step.to];
    const float factor = factors_of(p).product;
    gpu.launch("scores", {p.head_axis(), uniform(rows), uniform(keys)}, [&](Block& b, Span head, Span i, Span j) {
        Scales scales(b, p, t, head, 12, Scales::For::scores);
        scales.take_queries(b, i);
        scales.take_keys(b, j);
        b.at(2);
        Tile q = b.load(Q.of(head), i);
        Tile k = b.load(K.of(head), j);
        Tile s = b.alloc_registers("S", i.size, j.size);
        b.matmul(s, q, k, Trans::b, scales.of_scores(b, factor));
        scales.scale_scores(b, s);
        change(b, s, step, nullptr, t, p, head, i, j);
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

void softmax(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys, const Step& step) {
    const Hbm S = t[step.from], P = t[step.to];
    const bool safe = p.softmax == Softmax::safe;
    const Index resident = resident_rows(p, gpu.capacity(Space::registers));
    if (resident == 0)
        gpu.note(text::message(safe ? "standard.streams_safe" : "standard.streams", std::to_string(p.seq_k)));
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

void output(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys, const Step& step) {
    const Hbm P = t[step.from], V = t[step.with], O = t[step.to];
    gpu.launch("output", {p.head_axis(), uniform(rows)}, [&](Block& b, Span head, Span i) {
        Scales scales(b, p, t, head, 12, Scales::For::values);
        b.at(6);
        Tile o = b.alloc_registers("O", i.size, p.dim_v);
        b.uniform(keys, [&](Span j) {
            scales.take_values(b, j);
            b.at(7);
            Tile w = b.load(P.of(head), i, j);
            drop_scores(b, w, p, t, head, i, j);
            Tile v = b.load(V.of(head), j);
            scales.scale_weights(b, w);
            b.matmul(o, w, v, Trans::none, scales.of_values());
        });
        b.at(8);
        b.store(o, O.of(head), i);
    });
}

}  // namespace

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    store_kept(gpu, t, p, rows, keys);
    for (const Step& step : steps_of(p)) {
        if (step.does == Does::scores)
            scores(gpu, t, p, rows, keys, step);
        else if (step.does == Does::softmax)
            softmax(gpu, t, p, rows, keys, step);
        else if (step.does == Does::output)
            output(gpu, t, p, rows, keys, step);
        else
            run_pass(gpu, t, p, rows, keys, step);
    }
}

std::vector<TensorDecl> tensors(const Problem& p, const Tiling&) {
    auto t = computation::attention.tensors(p);
    for (const TensorDecl& scratch : scratch_of(p)) t.push_back(scratch);
    return t;
}

}  // namespace tilescope::standard
