#include "device/causes.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "algorithms/contract/roles.hpp"
#include "device/levels.hpp"
#include "device/measurements.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::device;

namespace {

struct Pair {
    Counted what;
    const char *simulated, *measured;
};
constexpr Pair pairs[] = {{Counted::reads, "simulated_read_bytes", "measured_read_bytes"},
                          {Counted::writes, "simulated_write_bytes", "measured_write_bytes"},
                          {Counted::exponentials, "simulated_exps", "measured_xu_ops"},
                          {Counted::fma_flops, "simulated_matmul_flops", "measured_ffma_flops"}};

double left_over(const Experiment& e, Counted what, double beyond) {
    for (const Cause& c : causes_of(what, e, beyond)) beyond -= static_cast<double>(c.amount);
    return beyond;
}

Experiment experiment(const char* algorithm, Problem problem, Tiling tiling) {
    return {find_algorithm(algorithm), problem, tiling, gpu_preset("H200")};
}

}  // namespace

TEST_CASE("causes: they explain what was measured, as docs/validation.md says", "[causes][shipped]") {
    const GpuSpec gpu = gpu_preset("H200");
    int compared = 0;
    for (const MeasurementFile& f : shipped_measurements())
        for (const MeasuredRow& row : f.rows) {
            const KernelCase c = case_of(row);
            const Experiment e = experiment_of(c, gpu);
            REQUIRE(has_causes(e));
            for (const auto& [what, simulated, measured] : pairs) {
                const auto counted = row.number(measured);
                const double model = row.number(simulated).value_or(0);
                if (!counted || model == 0 || causes_of(what, e, 0).empty()) continue;
                INFO(command_of(c) << ": " << measured);
                // As docs/validation.md says: at most 0.006% of exponentials and nothing of bytes is left. Where parts
                // are written, two writes to one sector at the same time may be merged.
                const bool meet = what == Counted::writes && has_splits(e.algorithm->knobs) && e.tiling.splits > 1;
                const bool bytes = what == Counted::reads || what == Counted::writes;
                const bool many = e.tiling.splits > 100;  // LSE_s of 300 parts: 8 sectors more, of 17 MB
                const double allowed = meet ? 0.0015 : bytes && !many ? 0 : 0.0001;
                // A scale of 8-bit values that an SM has just read need not come from the L2 again; a few come twice.
                const bool scales = what == Counted::reads && size_of(c.problem.dtype) == 1;
                const double kept = scales ? static_cast<double>(causes_of(what, e, 0).back().amount) * 32 / 28 : 0;
                const double left = left_over(e, what, *counted - model);
                CHECK(left <= allowed * model + 0.01 * kept);
                CHECK(left >= -allowed * model - kept);
                ++compared;
            }
        }
    CHECK((compared > 1000 || shipped_measurements().empty()));
}

TEST_CASE("causes: flash_v3's kernel loads and computes whole tiles", "[causes]") {
    Problem p;  // two row tiles of 192, of which 8 + 192 rows exist; key tiles of 128, of which 72 + 128 keys exist
    p.dtype = Dtype::f16, p.heads = p.kv_heads = 3, p.seq_q = p.seq_k = 200, p.dim = p.dim_v = 64;
    Tiling t{192, 128};
    t.slots = 4, t.warpgroups = 3, t.turns = t.overlap = t.specialised = on, t.cluster = 1;
    t.persistent = dealt_in_pairs;
    const Experiment e = experiment("flash_v3", p, t);
    REQUIRE(has_causes(e));
    const auto reads = causes_of(Counted::reads, e, 0);
    REQUIRE(reads.size() == 1);
    CHECK(reads[0].amount == 3 * 2 * (184 * 64 + 2 * 56 * 128));  // rows of Q; rows of K and V in two row tiles
    std::map<std::string, Count> of;
    for (const Cause& c : causes_of(Counted::exponentials, e, 0)) of[c.name] = c.amount;
    CHECK(of["ragged tiles"] == 3 * (384 * 256 - 200 * 200));
    CHECK(of["correction factors"] == 3 * (64 * 12 * 4 - 200 * 2));
    CHECK(of["reciprocals"] == 3 * 64 * 12 * 2);
    CHECK(of["dealing out"] == 32 * 3 * 15 * (6 + 6));  // 15 warps in six thread blocks
    p.dtype = Dtype::e4m3, p.scales = Scaling::head;
    const Experiment narrow = experiment("flash_v3", p, t);
    const auto of_narrow = causes_of(Counted::reads, narrow, 0);
    REQUIRE(of_narrow.size() == 2);
    CHECK(of_narrow[0].amount == reads[0].amount / 2);
    CHECK(of_narrow[1].amount == 3 * 2 * 3 * 28);  // three heads, two row tiles, three scales of 4 bytes
    for (const Cause& c : causes_of(Counted::exponentials, narrow, 0)) of[c.name] = c.amount;
    CHECK(of["dealing out"] == 32 * 3 * 16 * (6 + 6));  // all 16 warps: producers turn V
    p.dtype = Dtype::f32;
    CHECK_FALSE(has_causes(experiment("flash_v3", p, t)));
    p.dtype = Dtype::f16, t.like = 3;  // cuDNN's kernel
    CHECK_FALSE(has_causes(experiment("flash_v3", p, t)));
}

TEST_CASE("levels: products of a kernel with lanes are warps' parts of wgmma", "[causes]") {
    for (const Index dim : {64, 128}) {
        Problem p;
        p.dtype = Dtype::f16, p.heads = p.kv_heads = 1, p.seq_q = p.seq_k = 1024, p.dim = p.dim_v = dim;
        const Report r = count_and_time(experiment("flash_v3", p, {128, 128}));
        // Row tiles, key tiles and warps are eight each. 16 of d, or of the keys, take an instruction.
        const auto instructions = static_cast<double>(8 * 8 * 8 * (dim + 128) / 16);
        const NcuLaunch launch{"flash_v3_kernel", {{NcuMetric::tensor, instructions}}};
        const auto levels = levels_of(r, {&launch, 1}, 1).there;
        const auto flops =
            std::find_if(levels.begin(), levels.end(), [](const Level& l) { return l.what == Compared::matrix_flops; });
        REQUIRE(flops != levels.end());
        CHECK_THAT(flops->measured, Catch::Matchers::WithinRel(flops->model, 1e-12));
    }
}

TEST_CASE("causes: thread blocks of a cluster visit what either of them sees", "[causes]") {
    Problem p;  // three row tiles, two clusters; their row tiles see 1, 2 and 3 key tiles
    p.dtype = Dtype::f16, p.heads = p.kv_heads = 1, p.seq_q = p.seq_k = 384, p.dim = p.dim_v = 128;
    p.mask = Mask::causal();
    Tiling t{128, 128};
    t.slots = 4, t.warpgroups = 2, t.turns = t.overlap = t.specialised = on, t.cluster = 2;
    t.persistent = dealt_in_pairs;
    const Experiment e = experiment("flash_v3", p, t);
    const Bytes tile = 2 * 128 * 128;
    CHECK(causes_of(Counted::reads, e, 0)[0].amount == tile + 2 * tile * (2 + 2 + 3 + 3 - (1 + 2 + 3)));
}

TEST_CASE("causes: none where no kernel of that type is here", "[causes]") {
    Problem p;
    p.dtype = Dtype::f16;
    CHECK(has_causes(experiment("flash_v2", p, {64, 64})));
    CHECK(causes_of(Counted::fma_flops, experiment("flash_v2", p, {64, 64}), 0).empty());
    CHECK_FALSE(has_causes(experiment("flash_v1", p, {64, 64})));
    CHECK(causes_of(Counted::reads, experiment("flash_v1", p, {64, 64}), 5).empty());
}

TEST_CASE("causes: a ragged LSE ends in a sector that it does not fill", "[causes]") {
    Problem p;
    p.dtype = Dtype::f32, p.heads = 3, p.kv_heads = 3, p.seq_q = 9, p.seq_k = 64;
    const auto causes = causes_of(Counted::writes, experiment("flash_v2", p, {64, 64}), 0);
    REQUIRE(causes.size() == 1);
    CHECK(causes[0].amount == 3 * 7 * 4);
}

TEST_CASE("causes: what parts of the keys add, of one decoding step", "[causes]") {
    Problem p;  // 32 heads over 8, packed: four of the 16 rows that a warp computes
    p.dtype = Dtype::f16, p.heads = 8, p.kv_heads = 8, p.seq_q = 4, p.packed = 4, p.seq_k = 65536;
    p.dim = p.dim_v = 128;
    const Experiment e = experiment("split_kv", p, {16, 64, 29});
    REQUIRE(has_causes(e));
    const auto writes = causes_of(Counted::writes, e, 0);
    REQUIRE(writes.size() == 1);
    CHECK(writes[0].amount == 8 * (29 * 4 * 28 + 16));  // an LSE_s fills 4 of 32 bytes; the LSE of four rows fills 16
    const auto reads = causes_of(Counted::reads, e, 0);
    CHECK(reads[0].amount == 8 * 4 * 3 * 4);  // 29 numbers take the sectors of 32
    std::map<std::string, Count> of;
    for (const Cause& c : causes_of(Counted::exponentials, e, 0)) of[c.name] = c.amount;
    CHECK(of["ragged tiles"] == 8 * 12 * 65536);
    CHECK(of["correction factors"] == 8 * (4 * 1024 * 32 - 4 * 1024));  // four warps compute a factor each
    CHECK(of["reciprocals"] == 8 * 29 * 32);
    CHECK(of["merging"] == 8 * 29 * 4 * 32);
    CHECK(of["combining"] == 8 * (4 * 2 * 32 - 29 * 4));
}

TEST_CASE("causes: parts that see nothing take no exponentials", "[causes]") {
    Problem p;
    p.dtype = Dtype::f32, p.heads = 1, p.kv_heads = 1, p.seq_q = 128, p.seq_k = 128, p.mask = Mask::causal();
    const auto causes = causes_of(Counted::exponentials, experiment("split_kv", p, {64, 64, 2}), 0);
    std::map<std::string, Count> of;
    for (const Cause& c : causes) of[c.name] = c.amount;
    CHECK(of["ragged tiles"] == 0);
    CHECK(of["reciprocals"] == 32 * 4 * 3);  // three of the four pairs of row block and part see keys
    CHECK(of["combining"] == 32 * (64 + 64) - 2 * 128);
}

TEST_CASE("causes: rows that see no key visit no tile", "[causes]") {
    Problem p;
    p.dtype = Dtype::f32, p.heads = 1, p.kv_heads = 1, p.seq_q = 128, p.seq_k = 16, p.mask = Mask::causal();
    const auto causes = causes_of(Counted::fma_flops, experiment("flash_v2", p, {64, 16}), 0);
    REQUIRE(causes.size() == 2);
    CHECK(causes[0].amount == 0);                          // 64 rows see 16 keys: nothing is ragged
    CHECK(causes[1].amount == 64 * (4 * 1 * 1 + 13 * 8));  // four warps visit a tile; all eight compute logarithms
}
