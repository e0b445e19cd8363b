// Flash-decoding: one part equals FlashAttention-2, and any numbers of parts equal each other. closed_forms_test.cpp
// and registry_test.cpp have closed forms and references.
#include <algorithm>
#include <cmath>

#include "algorithms/attention/split_kv/algorithm.hpp"
#include "core/machine/event.hpp"
#include "lab/run/reference.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

const Algorithm& split() { return *find_algorithm("split_kv"); }
const Algorithm& flash() { return *find_algorithm("flash_v2"); }

Case with(Case c, Index splits) {
    c.tiling.splits = splits;
    c.problem.softmax = Softmax::safe;
    return c;
}

/// Counts the thread blocks that a run went through.
struct Witness : Listener {
    void begin(const BlockMark&) override { ++blocks; }
    using Listener::begin;
    void on(const Event&, TileData) override {}
    Index blocks = 0;
};

}  // namespace

TEST_CASE("one part is FlashAttention-2: one launch, and no partial results", "[split_kv]") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const Case c = with(random_case(seed), 1);
        const Problem& p = c.problem;
        INFO(to_string(split(), c));
        const Inputs in = inputs_for(split(), c);
        const Outcome one = run(split(), c, roomy(), numeric_mode, in),
                      whole = run(flash(), c, roomy(), numeric_mode, in);
        CHECK(same_bits(*one.tensor("O").data, *whole.tensor("O").data));
        CHECK(same_bits(*one.tensor("LSE").data, *whole.tensor("LSE").data));
        Count blind = 0;  // rows of blocks that see nothing: only flash_v2 reads their Q
        for (Index i = 0; i < p.seq_q; i += c.tiling.br) {
            const Index rows = std::min(c.tiling.br, p.seq_q - i);
            if (p.mask.hides() && i + rows + p.diagonal() <= 0) blind += rows;
        }
        const Bytes unread = p.batch_heads() * blind * p.dim * size_of(p.dtype);
        CHECK(one.launches.size() == 1);
        CHECK(one.counters.hbm_read == whole.counters.hbm_read - unread);
        CHECK(one.counters.hbm_write == whole.counters.hbm_write);
        CHECK(one.counters.matmul_flops == whole.counters.matmul_flops);
        CHECK(one.counters.exps == whole.counters.exps);
    }
}

TEST_CASE("any number of parts gives the same O and LSE", "[split_kv][numbers]") {
    Count hidden = 0, beyond = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        const Case c = with(random_case(seed), 1);
        const Inputs in = inputs_for(split(), c);
        const Outcome whole = run(flash(), c, roomy(), numeric_mode, in);
        const Index Tc = ceil_div(c.problem.seq_k, c.tiling.bc);
        for (const Index s : {2, 3, 5, 8, 100}) {
            const Case parted = with(c, s);
            INFO(to_string(split(), parted));
            const Outcome o = run(split(), parted, roomy(), numeric_mode, in);
            CHECK(distance(*o.tensor("O").data, *whole.tensor("O").data) <= allowed_distance(c.problem.dtype));
            CHECK(distance(*o.tensor("LSE").data, *whole.tensor("LSE").data) <= 1e-5);
            beyond += s > Tc;
            hidden += c.problem.mask.hides() && s <= Tc;
        }
    }
    CHECK(beyond > 100);
    CHECK(hidden > 50);
}

TEST_CASE("the order of parts does not matter: keys of whole parts change places", "[split_kv]") {
    for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16})
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            Case c = with(random_case(seed), 4);
            c.problem.mask = {}, c.problem.dtype = dtype;
            c.problem.seq_k = 48, c.tiling.bc = 6;  // parts of two key blocks
            const Inputs in = inputs_for(split(), c);
            Inputs turned = in;
            for (const char* name : {"K", "V"}) {
                std::vector<float> x = contents(*in.at(name));
                const auto slice = static_cast<std::ptrdiff_t>(48 * in.at(name)->cols());
                for (auto at = x.begin(); at != x.end(); at += slice) std::rotate(at, at + slice / 4, at + slice);
                turned[name] = std::make_shared<Storage>(dtype, in.at(name)->slices(), 48, in.at(name)->cols());
                turned[name]->write(0, x);
            }
            INFO(to_string(split(), c));
            const Outcome a = run(split(), c, roomy(), numeric_mode, in),
                          b = run(split(), c, roomy(), numeric_mode, turned);
            CHECK(distance(*a.tensor("O").data, *b.tensor("O").data) <= allowed_distance(dtype));
            CHECK(distance(*a.tensor("LSE").data, *b.tensor("LSE").data) <= 1e-5);
        }
}

TEST_CASE("parts without visible keys say so and read nothing", "[split_kv]") {
    Case c{{}, {4, 4, 7}, 1};
    c.problem.heads = c.problem.kv_heads = 1, c.problem.seq_q = c.problem.seq_k = 12;
    c.problem.dim = c.problem.dim_v = 3, c.problem.dtype = Dtype::f32, c.problem.mask = Mask::causal();
    const Outcome o = run(split(), c, roomy(), numeric_mode, inputs_for(split(), c));
    const std::vector<float> lse = contents(*o.tensor("LSE_s").data), part = contents(*o.tensor("O_s").data);
    for (Index row = 0; row < 12; ++row)
        for (Index s = 0; s < 7; ++s) {
            CAPTURE(row, s);
            const bool seen = s < 3 && 4 * s <= row / 4 * 4 + 3;  // seen by any row of the row block
            CHECK(std::isfinite(lse[static_cast<std::size_t>(row * 7 + s)]) == (seen && 4 * s <= row));
            if (!seen) CHECK(part[static_cast<std::size_t>((s * 12 + row) * 3)] == 0);
        }
    CHECK(o.moved("Q").read == 4 * 3 * 4 * (1 + 2 + 3));  // row block i reads Q for i + 1 parts
    CHECK(o.counters.thread_blocks == 3 * 7 + 1);
}

TEST_CASE("a million keys and more are counted at once, for any number of parts", "[split_kv]") {
    Case c{{}, {64, 128, 1}, 1};
    c.problem.heads = c.problem.kv_heads = 1, c.problem.seq_k = Index{1} << 30;
    c.problem.dim = c.problem.dim_v = 128;
    for (const bool causal : {false, true})
        for (const Index rows : {Index{1}, Index{1000}, Index{1} << 16})
            for (const Index s : {1, 22, 103, 1024}) {
                c.problem.seq_q = rows, c.tiling.splits = s, c.problem.mask = causal ? Mask::causal() : Mask();
                INFO(to_string(split(), c));
                const Prediction p = split().predict(c.problem, c.tiling, roomy());
                Witness witness;
                const Outcome o = run(split(), c, roomy(), count_mode, {}, 1, &witness);
                CHECK(witness.blocks <= 12);  // each block stands for many equal ones
                CHECK(o.counters.hbm_read == p.hbm_read);
                CHECK(o.counters.hbm_write == p.hbm_write);
                CHECK(o.counters.exps == p.exps);
                CHECK(o.counters.other_flops == p.other_flops);
            }
}
