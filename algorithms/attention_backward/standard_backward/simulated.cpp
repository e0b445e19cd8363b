#include "algorithms/attention/standard/algorithm.hpp"
#include "algorithms/attention_backward/standard_backward/algorithm.hpp"
#include "algorithms/contract/kv_heads.hpp"
#include "core/machine/gradient_ops.hpp"
#include "core/text/message.hpp"

namespace tilescope::standard_backward {
namespace {

/// Launches 1 and 5: out_j = alpha times the sum of w_ij^T x_i, over all query heads that share the head of K and V.
void over_rows(Gpu& gpu, const char* name, const Problem& p, Tiles rows, Tiles keys, Hbm w, Hbm x, Hbm out, float alpha,
               std::uint16_t line) {
    gpu.launch(name, {kv_axis(p), uniform(keys)}, [&](Block& b, Span kv, Span j) {
        const auto at = [&](int after) { b.at(static_cast<std::uint16_t>(line + after)); };
        at(0);
        Tile sum = b.alloc_registers(name, j.size, out.cols());
        b.uniform(heads_of(p, kv), [&](Span head) {
            b.uniform(rows, [&](Span i) {
                at(1);
                Tile weights = b.load(w.of(head), i, j);
                Tile values = b.load(x.of(head), i);
                b.matmul(sum, weights, values, Trans::a, alpha);
            });
        });
        at(2);
        b.store(sum, out.slice(kv.begin), j);
    });
}

void weight_gradients(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys) {
    const Hbm dO = t["dO"], V = t["V"], dP = t["dP"];
    gpu.launch("dP", {p.head_axis(), uniform(rows), uniform(keys)}, [&](Block& b, Span head, Span i, Span j) {
        b.at(5);
        Tile g = b.load(dO.of(head), i);
        Tile v = b.load(V.of(head), j);
        Tile w = b.alloc_registers("dP", i.size, j.size);
        b.matmul(w, g, v, Trans::b);
        b.store(w, dP.of(head), i, j);
    });
}

struct Head {
    Hbm P, dP, dS;
};

/// D += rowsum(P * dP) of chunk j; for the first chunk, D = rowsum(P * dP).
void add_products(Block& b, const Head& h, Tile& d, Span i, Span j) {
    Tile w = b.load(h.P, i, j, Space::registers);
    Tile dw = b.load(h.dP, i, j, Space::registers);
    multiply(b, w, dw);
    (j.begin == 0 ? row_sum : update_row_sum)(b, d, w, Here::now());
}

void stream_rows(Block& b, const Head& h, Span i, Tiles keys) {
    b.at(7);
    Tile d = b.alloc_registers("D", i.size, 1);
    add_products(b, h, d, i, keys[0]);
    b.uniform(keys.from(1), [&](Span j) {
        b.at(7);
        add_products(b, h, d, i, j);
    });
    b.uniform(keys, [&](Span j) {
        b.at(8);
        Tile w = b.load(h.P, i, j, Space::registers);
        Tile dw = b.load(h.dP, i, j, Space::registers);
        subtract_rows(b, dw, d);
        multiply(b, dw, w);
        b.store(dw, h.dS, i, j);
    });
}

void keep_rows(Block& b, const Head& h, Span i) {
    b.at(7);
    Tile w = b.load(h.P, i, Space::registers);
    Tile dw = b.load(h.dP, i, Space::registers);
    Tile d = b.alloc_registers("D", i.size, 1);
    {
        Tile products = b.alloc_registers("P*dP", i.size, w.cols());
        copy(b, products, w);
        multiply(b, products, dw);
        row_sum(b, d, products);
    }
    b.at(8);
    subtract_rows(b, dw, d);
    multiply(b, dw, w);
    b.store(dw, h.dS, i);
}

void score_gradients(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys) {
    const Hbm P = t["P"], dP = t["dP"], dS = t["dS"];
    const Index resident = resident_rows(p, gpu.capacity(Space::registers));
    if (resident == 0) gpu.note(text::message("standard_backward.streams", std::to_string(p.seq_k)));
    const Tiles blocks = resident > 0 ? standard::even_rows(p, resident) : rows;
    gpu.launch("dS", {p.head_axis(), uniform(blocks)}, [&](Block& b, Span head, Span i) {
        const Head h = {P.of(head), dP.of(head), dS.of(head)};
        resident > 0 ? keep_rows(b, h, i) : stream_rows(b, h, i, keys);
    });
}

void query_gradients(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys) {
    const Hbm dS = t["dS"], K = t["K"], dQ = t["dQ"];
    gpu.launch("dQ", {p.head_axis(), uniform(rows)}, [&](Block& b, Span head, Span i) {
        b.at(9);
        Tile dq = b.alloc_registers("dQ", i.size, p.dim);
        b.uniform(keys, [&](Span j) {
            b.at(10);
            Tile s = b.load(dS.of(head), i, j);
            Tile k = b.load(K.of(head), j);
            b.matmul(dq, s, k, Trans::none, p.logit_scale());
        });
        b.at(11);
        b.store(dq, dQ.of(head), i);
    });
}

}  // namespace

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    over_rows(gpu, "dV", p, rows, keys, t["P"], t["dO"], t["dV"], 1, 1);
    weight_gradients(gpu, t, p, rows, keys);
    score_gradients(gpu, t, p, rows, keys);
    query_gradients(gpu, t, p, rows, keys);
    over_rows(gpu, "dK", p, rows, keys, t["dS"], t["Q"], t["dK"], p.logit_scale(), 12);
}

std::vector<TensorDecl> tensors(const Problem& p, const Tiling&) {
    auto t = computation::attention_backward.tensors(p);
    std::erase_if(t, [](const TensorDecl& each) { return each.saved; });  // P replaces O and the LSE
    for (const char* name : {"P", "dP", "dS"})
        t.push_back(declare(p, name, Role::scratch, Meaning::score, Sliced::by_head, p.seq_q, p.seq_k, p.dtype));
    TensorDecl& kept = t[t.size() - 3];
    kept.role = Role::input, kept.saved = true;
    return t;
}

Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec& gpu) {
    const Index Nq = p.seq_q, Nk = p.seq_k, d = p.dim, dv = p.dim_v, N = Nq * Nk, e = size_of(p.dtype);
    const Index Tr = ceil_div(Nq, tile.br), Tc = ceil_div(Nk, tile.bc);
    const Index passes = resident_rows(p, gpu.registers_per_sm) > 0 ? 1 : 2;
    const Prediction of_head = {e * ((3 + 2 * passes) * N + Tc * Nq * (d + 2 * dv) + Tr * Nk * (d + dv)),
                                e * (2 * N + Nq * d), 4 * N * (d + dv), 0, 4 * N - Nq};
    return of_head.times(p.batch_heads()) + Prediction{0, e * Nk * (d + dv)}.times(p.kv_slices());
}

std::optional<Idealised> idealised(const Problem& p) {
    const Index Nq = p.seq_q, Nk = p.seq_k, d = p.dim, dv = p.dim_v, N = Nq * Nk, e = size_of(p.dtype);
    const Prediction of_head = {e * (5 * N + Nq * (d + 2 * dv) + Nk * (d + dv)), e * (2 * N + Nq * d), 4 * N * (d + dv),
                                0, 4 * N - Nq};
    return Idealised{"Algorithm 3 of the FlashAttention paper",
                     of_head.times(p.batch_heads()) + Prediction{0, e * Nk * (d + dv)}.times(p.kv_slices()),
                     text::message("standard_backward.idealised")};
}

}  // namespace tilescope::standard_backward
