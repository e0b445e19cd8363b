// Words are for people: with other words in all operations, times stay the same.
#include "core/record/outline.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/renamed.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

RunTime timed(const Experiment& e, bool renamed) {
    Outline outline;
    Renamed other(outline);
    Listener* const listener = renamed ? static_cast<Listener*>(&other) : &outline;
    const Report report = count(e, nullptr, std::span(&listener, 1));
    return time_of(report, outline);
}

}  // namespace

TEST_CASE("times do not depend on what operations are called", "[timing]") {
    for (const Algorithm& a : algorithms())
        for (const Dtype dtype : {Dtype::f32, Dtype::f16}) {
            Problem p;
            p.heads = p.kv_heads = 4, p.seq_q = p.seq_k = 500, p.dim = p.dim_v = 64, p.dtype = dtype;
            if (a.computes->features.has(Feature::head_dims)) p.mask = Mask::causal();
            const Experiment e{&a, p, {32, 32, 2}, gpu_preset("H100")};
            INFO(a.name << ' ' << name_of(dtype));
            const RunTime as_it_is = timed(e, false), renamed = timed(e, true);
            CHECK(renamed.us() == as_it_is.us());
            REQUIRE(renamed.launches.size() == as_it_is.launches.size());
            for (std::size_t k = 0; k < renamed.launches.size(); ++k) {
                CHECK(renamed.launches[k].bound == as_it_is.launches[k].bound);
                CHECK(renamed.launches[k].busy == as_it_is.launches[k].busy);
                CHECK(renamed.launches[k].residency.limit == as_it_is.launches[k].residency.limit);
            }
        }
}
