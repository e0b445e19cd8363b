// A backward pass together with its forward pass: the sums of both.
#include "lab/model/with_forward.hpp"

#include <cmath>
#include <map>

#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

Report alone(const Algorithm& a, const Problem& p, const GpuSpec& gpu) {
    return count_and_time({&a, p, choose_tiling(a, p, {}, gpu), gpu});
}

Bytes extra_of(const Report& r) {
    Bytes sum = 0;
    for (const TensorReport& t : r.tensors) sum += t.extra ? t.bytes : 0;
    return sum;
}

}  // namespace

TEST_CASE("a backward pass with its forward pass is what both do", "[with_forward]") {
    Problem p;
    p.heads = p.kv_heads = 3, p.seq_q = 200, p.seq_k = 300, p.dim = 64, p.dim_v = 32;
    const GpuSpec gpu = gpu_preset("H100");
    const Count heads = 3, rows = 200, keys = 300;
    const std::map<std::string, std::pair<std::string, Bytes>> expected = {
        {"standard_backward", {"standard", 2 * heads * rows * keys}},  // P
        {"flash_v1_backward", {"flash_v1", 8 * heads * rows}},         // l and m
        {"flash_v2_literal_backward", {"flash_v2", 4 * heads * rows}},
        {"flash_v2_backward", {"flash_v2", 4 * heads * rows}},
        {"flash_v2_deterministic_backward", {"flash_v2", 4 * heads * rows}},
        {"two_pass_backward", {"flash_v2", 4 * heads * rows}},
        {"memory_efficient_backward", {"memory_efficient", 4 * heads * rows}}};
    for (const Algorithm& a : algorithms()) {
        INFO(a.name);
        CHECK((a.lineage.forward != nullptr) == (a.computes == &computation::attention_backward));
        if (!a.lineage.forward) continue;
        const auto& [forward, kept] = expected.at(a.name);
        REQUIRE(a.lineage.forward == forward);
        const Report backward = alone(a, p, gpu), before = alone(*find_algorithm(forward), p, gpu);
        CHECK(kept_for_backward(backward.experiment) == kept);
        const Report both = with_forward(backward, {}, nullptr);
        CHECK(both.forward == find_algorithm(forward));
        Counters sum = before.counters;
        sum += backward.counters;
        CHECK(both.counters == sum);
        REQUIRE(both.time);
        CHECK(std::abs(both.time->us() - before.time->us() - backward.time->us()) < 1e-9);
        CHECK(both.launches.size() == before.launches.size() + backward.launches.size());
        CHECK(both.hbm_extra == extra_of(both));
        // Tensors that the forward pass leaves to the backward pass are counted once, and nothing that either needs is
        // left out.
        CHECK(both.hbm_extra >= std::max(before.hbm_extra, backward.hbm_extra));
        CHECK(both.hbm_footprint < before.hbm_footprint + backward.hbm_footprint);
        // Tensors that are kept for the backward pass are no inputs of the user.
        CHECK(backward.hbm_extra >= kept);
        Traffic moved;
        for (const TensorReport& t : both.tensors) moved += t.traffic;
        CHECK(moved.read == sum.hbm_read);
        CHECK(moved.write == sum.hbm_write);
        CHECK(moved.reduce == sum.hbm_reduce);
    }
}
