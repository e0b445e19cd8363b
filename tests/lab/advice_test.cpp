// Advice on tiles: the ranking agrees with runs, and the reasons are true.
#include "lab/study/advice.hpp"

#include <algorithm>

#include "core/machine/error.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

Problem layer(Index heads, Index seq, Index dim = 64) {
    Problem p;
    p.heads = p.kv_heads = heads, p.seq_q = p.seq_k = seq, p.dim = p.dim_v = dim, p.dtype = Dtype::f16;
    return p;
}

Advice advice(const char* algorithm, const Problem& p, Wish wish = {}, const char* gpu = "H100") {
    return advise(*find_algorithm(algorithm), p, wish, gpu_preset(gpu), 2);
}

}  // namespace

TEST_CASE("advice is ranked by what runs take, and no tiles of the search are better than the best", "[advice]") {
    const Problem p = layer(16, 2048, 128);
    const Advice a = advice("flash_v2", p);
    REQUIRE(a.ranking.size() > 5);
    for (std::size_t k = 0; k < a.ranking.size(); ++k) {
        const Candidate& c = a.ranking[k];
        CHECK(c.value == time_of({find_algorithm("flash_v2"), p, c.tiling(), gpu_preset("H100")}).us());
        if (k > 0) CHECK(c.value >= a.ranking[k - 1].value);
    }
    for (const Index br : {32, 64, 128, 256})
        for (const Index bc : {32, 64, 128})
            if (const Experiment e{find_algorithm("flash_v2"), p, {br, bc}, gpu_preset("H100")};
                fits(*e.algorithm, p, e.tiling, e.gpu)) {
                const RunTime t = time_of(e);
                if (!t.launches[0].spills) CHECK(t.us() >= a.ranking[0].value);
            }
    CHECK(a.released.tiling() == Tiling{128, 64});
    CHECK(a.released.value >= a.ranking[0].value);
    CHECK(a.floor_us > 0);
    CHECK(a.floor_us <= a.ranking[0].value);
}

TEST_CASE("every neighbour of the best is worse for a reason, or cannot be", "[advice][numbers]") {
    for (const char* name : {"flash_v2", "flash_v1", "memory_efficient"}) {
        const Advice a = advice(name, layer(64, 1024));
        const Tiling best = a.ranking[0].tiling();
        for (const Candidate& c : a.neighbours) {
            INFO(name << ", " << c.name << " of " << best.br << " x " << best.bc);
            CHECK(c.value >= a.ranking[0].value);
            CHECK_FALSE(c.why.empty());
            CHECK(((c.tiling().br == best.br) != (c.tiling().bc == best.bc)));
            CHECK(c.outcome.report.has_value() == (c.why.find("does not fit") == std::string::npos));
        }
    }
}

TEST_CASE("the objective decides, and tiles that were given stay", "[advice]") {
    Wish wish;
    wish.objective = Objective::sm_traffic, wish.tiling.bc = 64;
    const Advice a = advice("flash_v2", layer(4, 4096), wish);
    for (const Candidate& c : a.ranking) {
        CHECK(c.tiling().bc == 64);
        CHECK(c.value == static_cast<double>(c.outcome.report->counters.hbm()));
    }
    // K and V are read once for each row block, so the tallest tile that fits is the best.
    Index tallest = 0;
    for (const Candidate& c : a.ranking) tallest = std::max(tallest, c.tiling().br);
    CHECK(a.ranking[0].tiling().br == tallest);
}

TEST_CASE("where an SM has room for too few warps, that is the reason, and such tiles are not ranked", "[advice]") {
    GpuSpec gpu = gpu_preset("H100");
    const Algorithm& a = *find_algorithm("flash_v2");
    Wish tall;
    tall.tiling.br = 128;  // 8 warps where d is 256; with 4, registers would spill
    gpu.max_warps_per_sm = 4;
    const std::string why = message_of<RunError>([&] { advise(a, layer(4, 1024, 256), tall, gpu, 2); });
    INFO(why);
    CHECK(contains(why, "8 warps, an SM of H100-SXM has room for 4 (max_warps_per_sm)"));
    CHECK(!contains(why, "no tiling fits"));
    CHECK_FALSE(best_mapping(a, layer(4, 1024, 256), tall, gpu));
    for (const Candidate& c : advise(a, layer(4, 1024, 256), {}, gpu, 2).ranking) {
        REQUIRE(c.outcome.report);
        CHECK(c.outcome.report->time.has_value());
    }
    gpu.max_warps_per_sm = 2;
    CHECK(contains(message_of<RunError>([&] { advise(a, layer(4, 1024), {}, gpu, 2); }), "has room for 2"));
}

TEST_CASE("of given tiles that no kernel could have it is said which flags to leave out", "[advice]") {
    const auto said = [](Tiling given) {
        return message_of<RunError>([&] { advice("flash_v2", layer(8, 1024, 128), {.tiling = given}); });
    };
    CHECK(
        contains(said({512, 512}), "with the given Br and Bc fits without spilling registers; leave --br or --bc out"));
    CHECK(contains(said({512, 0}), "with the given Br fits without spilling registers; leave --br out"));
}

TEST_CASE("where a narrower tile spills and a wider one does not, fewer warps hold it, and that is said",
          "[advice][numbers]") {
    Problem p = layer(8, 4096, 128);
    const Advice a = advice("flash_v2_backward", p);
    const auto narrower = std::find_if(a.neighbours.begin(), a.neighbours.end(),
                                       [](const Candidate& c) { return c.name == std::string_view("narrower"); });
    REQUIRE(narrower != a.neighbours.end());
    CHECK(contains(narrower->why, "with 1 warp instead of 2"));
}

TEST_CASE("advice says where the released kernel's rule is only carried on", "[advice]") {
    CHECK(advice("flash_v2", layer(4, 512, 64)).published.carried_on.empty());
    CHECK(advice("flash_v2", layer(4, 512, 320)).published.carried_on ==
          "FlashAttention-2's rule for d = 256, carried on");
    CHECK(advice("flash_v2", layer(4, 512, 64), {}, "V100").published.carried_on ==
          "FlashAttention-2's rule for an A100, carried on");
}

TEST_CASE("advice says whose tiles it compares with", "[advice]") {
    Problem p = layer(4, 512, 64);
    CHECK(advice("flash_v2", p).published.name() == "FlashAttention-2's");
    CHECK(advice("memory_efficient", p).published.name() == "xformers'");
    CHECK(advice("flash_v1_backward", p).published.name() == "FlashAttention-2's");
    CHECK(advice("flash_v2", layer(4, 512, 320)).published.name() == "FlashAttention-2's rule, carried on");
    p.dtype = Dtype::f32;
    CHECK(advice("flash_v2", p).published.name() == "TileScope's");
}

TEST_CASE("of a rule's tiles that do not fit advice has the reason", "[advice]") {
    const Advice a = advice("flash_v2", layer(1, 256, 1000));
    REQUIRE_FALSE(a.released.outcome.report);
    CHECK(contains(a.released.why, "K does not fit: 256,000 B of SRAM"));
}

TEST_CASE("the first reason for no room is kept, whether others have room or not", "[advice]") {
    GpuSpec gpu = gpu_preset("H100");
    const Algorithm& a = *find_algorithm("flash_v2");
    const auto ranked = [&] { return ranked_tiles({a, layer(4, 1024, 256), {}, gpu, 2}); };
    CHECK(ranked().no_room.empty());
    gpu.max_warps_per_sm = 4;
    CHECK_FALSE(ranked().tiles.empty());
    CHECK(contains(ranked().no_room, "has room for 4"));
}

TEST_CASE("where nothing fits there is no advice", "[advice]") {
    GpuSpec tiny = gpu_preset("H100");
    tiny.sram_per_block = 512;
    CHECK_THROWS_AS(advise(*find_algorithm("flash_v2"), layer(1, 256, 128), {}, tiny, 1), RunError);
}
