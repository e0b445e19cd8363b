// A program whose warps have roles: a producer fills a ring of K and V, and two consumers of rows take turns.
#pragma once

#include "core/machine/lane.hpp"
#include "tests/support/harness.hpp"

namespace tilescope::testing {

struct Laned {
    Index keys = 40, tile = 16, dim = 8, rows = 8;  ///< rows: per consumer
    Index slots = 4;
    Index pieces = 1;      ///< slots of a tile
    Index registers = 64;  ///< of a thread of a consumer; 0: as many as its tiles need
    bool lanes = true;     ///< false: the same operations without lanes, with K and V in tiles of their own
};

/// O = exp(Q K^T - m) V, unnormalised, by two thread blocks of 2 `rows` rows each. All tensors are f32.
inline void run_laned(Gpu& gpu, const Laned& l) {
    const auto input = [&](const char* name, Index rows, Meaning meaning, unsigned seed) {
        TensorInfo t{name, Role::input, Dtype::f32, 1, rows, l.dim};
        if (gpu.mode().data)
            t = filled(name, Role::input, Dtype::f32, 1, rows, l.dim, random_floats(rows * l.dim, seed));
        t.meaning = meaning;
        return gpu.add(t);
    };
    const Hbm Q = input("Q", 4 * l.rows, Meaning::query, 1), K = input("K", l.keys, Meaning::key, 2),
              V = input("V", l.keys, Meaning::value, 3);
    const Hbm O = gpu.add({"O", Role::output, Dtype::f32, 1, 4 * l.rows, l.dim, nullptr, Meaning::output});

    struct Rows {
        Span at;
        Tile q, o, m;
    };
    const auto begin = [&](Block& b, Span at) {
        return Rows{at, b.load(Q, at), b.alloc_registers("O", at.size, l.dim),
                    b.alloc_registers("m", at.size, 1, -infinity)};
    };
    const auto step = [&](Block& b, Rows& r, const Tile& k, const Tile& v) {
        b.at(3);
        Tile s = b.alloc_registers("S", r.at.size, k.rows());
        b.matmul(s, r.q, k, Trans::b);
        b.at(4);
        Tile c = b.alloc_registers("c", r.at.size, 1);
        copy(b, c, r.m);
        update_row_max(b, r.m, s);
        exp_minus(b, c, r.m);
        exp_minus(b, s, r.m);
        scale_rows(b, r.o, c);
        b.at(5);
        b.matmul(r.o, s, v, Trans::none);
    };
    const auto part = [&](Span i, Index w) { return Span{i.begin + w * l.rows, l.rows}; };
    const Tiles keys(l.keys, l.tile, "j");

    gpu.launch("laned", {uniform(Tiles(4 * l.rows, 2 * l.rows, "i"))}, [&](Block& b, Span i) {
        if (!l.lanes) {
            Rows one = begin(b, part(i, 0)), two = begin(b, part(i, 1));
            b.uniform(keys, [&](Span j) {
                b.at(2);
                Tile k = b.load(K, j), v = b.load(V, j);
                step(b, one, k, v), step(b, two, k, v);
            });
            b.at(6);
            b.store(one.o, O, one.at), b.store(two.o, O, two.at);
            return;
        }
        const LaneSpec spec{.warps = 4, .registers_per_thread = l.registers, .turns = true};
        Lane producer = b.lane("producer", {.warps = 1}), first = b.lane("WG1", spec), second = b.lane("WG2", spec);
        Ring kv = b.ring("KV", l.slots, l.tile, l.dim, Dtype::f32, l.pieces);
        Rows one = begin(*first, part(i, 0)), two = begin(*second, part(i, 1));
        b.uniform(keys, [&](Span j) {
            producer->at(2);
            Tile k = producer->load(kv, K, j), v = producer->load(kv, V, j);
            step(*first, one, k, v), step(*second, two, k, v);
        });
        first->at(6);
        first->store(one.o, O, one.at), second->store(two.o, O, two.at);
    });
}

}  // namespace tilescope::testing
