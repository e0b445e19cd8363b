#include <limits>
#include <optional>

#include "algorithms/attention/split_kv/algorithm.hpp"
#include "algorithms/contract/scales.hpp"
#include "algorithms/contract/scores.hpp"
#include "core/text/message.hpp"

namespace tilescope::split_kv {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Head {
    const Tensors& t;
    Span at;
    Hbm Q, K, V;
};

/// Lines 4 to 9. On return, `o` is O_s and `m` is LSE_s.
void attend(Block& b, const Head& h, Scales& scales, const Problem& p, Span i, const Tiles& keys, Tile& o, Tile& m) {
    Tile q = b.load(h.Q, i);
    Tile l = b.alloc_registers("l", i.size, 1);
    b.uniform(keys, [&](Span j) {
        scales.take_keys(b, j);
        scales.take_values(b, j);
        b.at(5);
        Tile k = b.load(h.K, j);
        Tile v = b.load(h.V, j);
        b.at(6);
        Tile s = b.alloc_registers("S", i.size, j.size);
        b.matmul(s, q, k, Trans::b, scales.of_scores(b, p.logit_scale()));
        scales.scale_scores(b, s);
        finish_scores(b, s, p, h.t, h.at, i, j);
        b.at(7);
        Tile correction = b.alloc_registers("c", i.size, 1);
        copy(b, correction, m);
        update_row_max(b, m, s);
        exp_minus(b, correction, m);
        exp_minus(b, s, m);
        scale_rows(b, l, correction);
        update_row_sum(b, l, s);
        b.at(8);
        scale_rows(b, o, correction);
        scales.scale_weights(b, s);
        b.matmul(o, s, v, Trans::none, scales.of_values());
    });
    b.at(9);
    divide_rows(b, o, l);
    add_log(b, m, l);
}

/// The first launch. A single part writes O and LSE instead of O_s and LSE_s.
void attend_in_parts(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const bool in_parts = parts_of(tile) > 1;
    const Hbm Q = t["Q"], K = t["K"], V = t["V"], O = t[in_parts ? "O_s" : "O"], LSE = t[in_parts ? "LSE_s" : "LSE"];
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    const Index part = blocks_of_a_part(p, tile) * tile.bc;
    const Tiles all(parts_of(tile) * part, part, "s");
    gpu.launch("split_kv", {p.head_axis(), p.row_axis(rows, keys), parts(all)},
               [&](Block& b, Span head, Span i, Span s) {
                   const Head h = {t, head, Q.of(head), K.of(head), V.of(head)};
                   const Index number = s.begin / part;
                   const Tiles own = p.visible_keys(keys, i).within(s);
                   std::optional<Scales> scales;
                   if (own.count() > 0) scales.emplace(b, p, t, head, 17).take_queries(b, i);
                   b.at(own.count() > 0 ? 4 : 3);
                   Tile o = b.alloc_registers("O", i.size, p.dim_v);
                   Tile m = b.alloc_registers("m", i.size, 1, -infinity);
                   if (own.count() > 0) attend(b, h, *scales, p, i, own, o, m);
                   b.at(in_parts ? 10 : 16);
                   b.store(o, O.of(head), {number * p.seq_q + i.begin, i.size});
                   b.store(m, LSE.of(head), i, {number, 1});
               });
}

void combine(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm O = t["O"], LSE = t["LSE"], O_s = t["O_s"], LSE_s = t["LSE_s"];
    const Tiles rows(p.seq_q, rows_combined(p), "i"), all(parts_of(tile), 1, "s");
    gpu.launch("combine", {p.head_axis(), uniform(rows)}, [&](Block& b, Span head, Span i) {
        const auto rows_of = [&](Span s) { return Span{s.begin * p.seq_q + i.begin, i.size}; };
        b.at(12);
        Tile w = b.load(LSE_s.of(head), i, Space::registers);
        b.at(13);
        Tile m = b.alloc_registers("M", i.size, 1);
        row_max(b, m, w);
        exp_minus(b, w, m);
        Tile sum = b.alloc_registers("W", i.size, 1);
        row_sum(b, sum, w);
        b.at(14);
        add_log(b, m, sum);
        divide_rows(b, w, sum);
        b.at(15);
        Tile weight = b.alloc_registers("w_s", i.size, 1);
        Tile o = b.load(O_s.of(head), rows_of(all[0]), Space::registers);
        take_column(b, weight, w, 0);
        scale_rows(b, o, weight);
        b.uniform(all.from(1), [&](Span s) {
            Tile part = b.load(O_s.of(head), rows_of(s), Space::registers);
            take_column(b, weight, w, s.begin);
            scale_rows(b, part, weight);
            add(b, o, part);
        });
        b.at(16);
        b.store(o, O.of(head), i);
        b.store(m, LSE.of(head), i);
    });
}

/// Parts consist of whole key blocks: with too many parts, some have no key block.
void note_empty_parts(Gpu& gpu, const Problem& p, const Tiling& tile) {
    const Index key_blocks = ceil_div(p.seq_k, tile.bc), S = parts_of(tile);
    if (const Index with_keys = ceil_div(key_blocks, blocks_of_a_part(p, tile)); with_keys < S)
        gpu.note(text::message("split_kv.empty_parts", std::to_string(with_keys), std::to_string(S), key_blocks,
                               std::to_string(blocks_of_a_part(p, tile))));
}

}  // namespace

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    note_empty_parts(gpu, p, tile);
    attend_in_parts(gpu, t, p, tile);
    if (parts_of(tile) > 1) combine(gpu, t, p, tile);
}

}  // namespace tilescope::split_kv
