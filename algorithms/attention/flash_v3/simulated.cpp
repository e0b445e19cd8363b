#include <limits>
#include <optional>

#include "algorithms/attention/flash_v3/algorithm.hpp"
#include "algorithms/contract/accumulator.hpp"
#include "algorithms/contract/scales.hpp"
#include "algorithms/contract/scores.hpp"
#include "algorithms/contract/weight_range.hpp"
#include "core/machine/lane.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope::flash_v3 {

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& given) {
    const Tiling tile = complete(p, given, gpu.spec());
    const Hbm Q = t["Q"], K = t["K"], V = t["V"], O = t["O"], LSE = t["LSE"];
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    const Roles roles = roles_of(p, tile, gpu.spec());
    const auto summed = [bits = sum_bits(p, gpu.spec())](Product of) {
        of.sum_bits = bits;
        return of;
    };
    gpu.launch("flash_v3", {p.head_axis(), p.row_axis(rows, keys)}, [&](Block& b, Span head, Span i) {
        b.at(1);
        Lane consumer = b.lane("consumer", roles.consumer);
        std::optional<Lane> loads;
        if (roles.specialised) loads.emplace(b.lane("producer", roles.producer));
        Lane& producer = loads ? *loads : consumer;
        constexpr Index pieces = 1;  // a tile takes a slot
        Ring ring = b.ring(roles.apart ? "K ring" : "KV ring", roles.slots, tile.bc, roles.width, p.key_type(), pieces,
                           roles.cluster);
        std::optional<Ring> second;
        if (roles.apart)
            second.emplace(b.ring("V ring", roles.slots_of_v, tile.bc, p.dim_v, p.key_type(), pieces, roles.cluster));

        std::optional<Lane> transposer;  // of products of 8 bits, which want V along its keys
        std::optional<Ring> turned;
        if (size_of(p.query_type()) == 1) {
            transposer.emplace(b.lane("transposer", {}));
            turned.emplace(
                b.ring("V^T ring", roles.apart ? roles.slots_of_v : roles.slots, p.dim_v, tile.bc, p.key_type()));
        }

        producer->at(3);
        Tile q = producer->load(Q.of(head), i);
        Scales scales(*consumer, p, t, head, 20);
        scales.take_queries(*consumer, i);
        consumer->at(9);
        Tile o = consumer->alloc_registers("O", i.size, p.dim_v);
        Tile l = consumer->alloc_registers("l", i.size, 1);
        Tile m = consumer->alloc_registers("m", i.size, 1, -std::numeric_limits<float>::infinity());
        Tile c = consumer->alloc_registers("c", i.size, 1);
        Shift shift(*consumer, p, i.size);
        std::optional<Tile> s, weights;

        const auto values = [&](Span j) {
            producer->at(6);
            Tile v = producer->load(second ? *second : ring, V.of(head), j);
            if (!turned) return v;
            (*transposer)->at(22);
            Tile along_keys = (*transposer)->alloc(*turned, "V^T", p.dim_v, j.size);
            transpose(**transposer, along_keys, v);
            return along_keys;
        };
        // S of one tile and P V of another, or of the same one.
        const auto stages = [&](const Span* next, const Span* now) {
            if (next) {
                producer->at(5);
                Tile k = producer->load(ring, K.of(head), *next);
                scales.take_keys(*consumer, *next);
                consumer->at(11);
                s.emplace(consumer->alloc_registers("S", i.size, next->size));
                const Product scaled = summed(scales.of_scores(*consumer, p.logit_scale()));
                consumer->matmul(*s, q, k, Trans::b, scaled);
            }
            if (now) {
                Tile v = values(*now);
                consumer->at(next || !roles.overlap ? 12 : 16);
                if (roles.rescales_first) scale_rows(*consumer, o, c);
                consumer->matmul(o, *weights, v, turned ? Trans::b : Trans::none, summed(scales.of_values()));
                if (!roles.overlap) weights.reset();  // gives back what the product reads: a wait for it
            }
            if (next) {
                consumer->at(13);
                scales.scale_scores(*consumer, *s);
                finish_scores(*consumer, *s, p, t, head, i, *next);
                copy(*consumer, c, m);
                update_row_max(*consumer, m, *s);
                hold_maxima(*consumer, m, c, p);
                exp_minus(*consumer, c, m);
                exp_minus(*consumer, *s, shift.of(*consumer, m));
                scale_rows(*consumer, l, c);
                update_row_sum(*consumer, l, *s);
                scales.take_values(*consumer, *next);
                consumer->at(14);
                scales.scale_weights(*consumer, *s);
                weights.reset();
                weights.emplace(consumer->alloc("P", i.size, next->size, roles.weights_in, p.query_type()));
                copy(*consumer, *weights, *s);
                s.reset();
                if (!roles.rescales_first) scale_rows(*consumer, o, c);
            }
        };
        const Tiles visible = p.visible_keys(keys, i);
        if (roles.overlap)
            b.pipelined(visible, stages);
        else
            b.uniform(visible, [&](Span j) { stages(&j, nullptr), stages(nullptr, &j); });

        consumer->at(17);
        divide_rows(*consumer, o, l);
        add_log(*consumer, m, l);
        shift.out_of(*consumer, m);
        consumer->at(18);
        consumer->store(o, O.of(head), i);
        consumer->store(m, LSE.of(head), i);
    });
}

}  // namespace tilescope::flash_v3
