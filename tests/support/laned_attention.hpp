// A row tile of attention as a tile program with lanes, in f16: arXiv 2407.08608, algorithms 1 and 2; and its timing.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/machine/lane.hpp"
#include "core/time/lane_programs.hpp"
#include "tests/support/harness.hpp"

namespace tilescope::testing {

/// Warpgroups of `rows` rows share a ring of K and V in tiles of `keys`.
struct LanedAttention {
    Index groups = 2, dim = 128;
    bool overlap = false;  ///< the next step's scores are issued with this step's output
    bool turns = false;
    Index slots = 6;
    bool one_lane = false;  ///< one lane has all warpgroups
    Index steps = 8;
    Index keys = 128, rows = 64;
    bool producer = true;  ///< false: a lane of warpgroups loads K and V itself
    bool narrow = false;   ///< P is a tile of its own, in f16
    Index rings = 1;       ///< 2: K and V have a ring each, of half of the slots
};
struct Warpgroup {
    Span rows;
    Lane lane;
    bool narrow;
    Tile q, o, m, l, c;
    std::optional<Tile> s = {};
};

inline void ask_scores(Warpgroup& g, const Tile& k) {
    Tile s = g.lane->alloc_registers("S", g.o.rows(), k.rows());
    g.lane->matmul(s, g.q, k, Trans::b);
    g.s.emplace(std::move(s));
}
inline void softmax_of(Warpgroup& g, Tile& s) {
    copy(*g.lane, g.c, g.m);
    update_row_max(*g.lane, g.m, s);
    exp_minus(*g.lane, g.c, g.m);
    exp_minus(*g.lane, s, g.m);
    scale_rows(*g.lane, g.l, g.c);
    update_row_sum(*g.lane, g.l, s);
    if (!g.narrow) return;
    Tile p = g.lane->alloc("P", s.rows(), s.cols(), Space::registers, Dtype::f16);
    copy(*g.lane, p, s);
    g.s.reset();
    g.s.emplace(std::move(p));
}
inline void rescale_output(Warpgroup& g) { scale_rows(*g.lane, g.o, g.c); }

inline void run_attention(Gpu& gpu, const LanedAttention& a) {
    const Index tile = a.keys, keys = a.steps * tile, all = a.groups * a.rows;
    const auto add = [&](const char* name, Role role, Index n) {
        return gpu.add({name, role, Dtype::f16, 1, n, a.dim, nullptr});
    };
    const Hbm Q = add("Q", Role::input, all), K = add("K", Role::input, keys), V = add("V", Role::input, keys),
              O = add("O", Role::output, all);
    const Hbm lse = gpu.add({"LSE", Role::output, Dtype::f32, 1, all, 1, nullptr});
    gpu.launch("attention", {uniform(Tiles(all, all))}, [&](Block& b, Span) {
        std::optional<Lane> own;
        if (a.producer) own.emplace(b.lane("producer", {.warps = 1}));
        const auto ring = [&](const char* name) { return b.ring(name, a.slots / a.rings, tile, a.dim, Dtype::f16); };
        Ring kv = ring(a.rings == 1 ? "KV" : "K");
        std::optional<Ring> of_v;
        if (a.rings == 2) of_v.emplace(ring("V"));
        Ring& vs = of_v ? *of_v : kv;
        std::vector<Warpgroup> groups;
        const Index lanes = a.one_lane ? 1 : a.groups;
        for (Index w = 0; w < lanes; ++w) {
            const Span part{w * all / lanes, all / lanes};
            const char* name = w == 0 ? "WG1" : w == 1 ? "WG2" : "WG3";
            Lane lane = b.lane(name, {.warps = 4 * a.groups / lanes, .turns = a.turns});
            Tile q = (own ? *own : lane)->load(Q, part);
            groups.push_back({part, std::move(lane), a.narrow, std::move(q), b.alloc_registers("O", part.size, a.dim),
                              b.alloc_registers("m", part.size, 1, -infinity), b.alloc_registers("l", part.size, 1),
                              b.alloc_registers("c", part.size, 1)});
        }
        const Lane& producer = own ? *own : groups[0].lane;
        if (!a.overlap) {
            b.uniform(Tiles(keys, tile, "j"), [&](Span j) {
                {
                    Tile k = producer->load(kv, K, j);
                    for (Warpgroup& g : groups) ask_scores(g, k);
                }
                for (Warpgroup& g : groups) softmax_of(g, *g.s), rescale_output(g);
                Tile v = producer->load(vs, V, j);
                for (Warpgroup& g : groups) g.lane->matmul(g.o, *g.s, v, Trans::none), g.s.reset();
            });
        } else {
            {
                Tile k = producer->load(kv, K, {0, tile});
                for (Warpgroup& g : groups) ask_scores(g, k), softmax_of(g, *g.s);
            }
            b.uniform(Tiles(keys, tile, "j").from(1), [&](Span j) {
                std::vector<Tile> before;
                {
                    Tile k = producer->load(kv, K, j);
                    for (Warpgroup& g : groups) {
                        before.push_back(std::move(*g.s));
                        ask_scores(g, k);
                        if (a.dim > 128) rescale_output(g);
                    }
                }
                {
                    Tile v = producer->load(vs, V, {j.begin - tile, tile});
                    for (std::size_t w = 0; w < groups.size(); ++w)
                        groups[w].lane->matmul(groups[w].o, before[w], v, Trans::none);
                }
                for (std::size_t w = 0; w < groups.size(); ++w) softmax_of(groups[w], *groups[w].s);
                if (a.dim <= 128)
                    for (Warpgroup& g : groups) rescale_output(g);
            });
            Tile v = producer->load(vs, V, {keys - tile, tile});
            for (Warpgroup& g : groups) g.lane->matmul(g.o, *g.s, v, Trans::none);
        }
        for (Warpgroup& g : groups) {
            divide_rows(*g.lane, g.o, g.l);
            g.lane->store(g.o, O, g.rows);
            add_log(*g.lane, g.m, g.l);
            g.lane->store(g.m, lse, g.rows);
        }
    });
}

/// Some of LaneConstants, and the kernel's sigma. The defaults are those of bare instructions, without a compiler's
/// overhead.
struct LanedMachine {
    double sigma = 1, bus = 60, beside = 2.8, dense = 1, steals = 0.7, latency = 555;
};

/// The constants of the model's first edition, by which the numbers of these tests were worked out.
inline LaneConstants first_model() {
    LaneConstants c;
    c.bus = 30, c.port = 0, c.credit = 0, c.latency = 555, c.slot_notices = 0;
    return c;
}

struct PlayedAttention {
    LanePrograms lanes;
    LanePlay play;

    PlayedAttention(const LanedAttention& a, const LanedMachine& m = {}, bool phases = false)
        : PlayedAttention(a, constants(m), {.sigma = m.sigma}, 1, phases) {}
    PlayedAttention(const LanedAttention& a, const LaneConstants& c, const LanedKernel& k, Index tiles,
                    bool phases = false)
        : lanes(rates(), c, k, tiles) {
        Gpu gpu(small_gpu(), exact_mode, 1);
        gpu.listen(lanes);
        run_attention(gpu, a);
        play = play_lanes(lanes.programs(), lanes.machine(), phases);
    }

    static Rates rates() {
        Rates r = rates_of(small_gpu());
        r.exp = 16, r.half = 64, r.fma = 128, r.sram = 128;
        return r;
    }
    static LaneConstants constants(const LanedMachine& m) {
        LaneConstants c = first_model();
        c.bus = m.bus, c.beside = m.beside, c.beside_dense = m.dense, c.steals = m.steals, c.latency = m.latency;
        return c;
    }
};

}  // namespace tilescope::testing
