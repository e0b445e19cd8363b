// The search for tiles: advice, `--tiles best` and the plane agree, and no possible tiles are better.
#include "lab/study/tile_search.hpp"

#include <random>

#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/basis.hpp"
#include "lab/model/full_tiles.hpp"
#include "lab/model/timing.hpp"
#include "lab/study/advice.hpp"
#include "show/stage/plane.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

struct Question {
    const Algorithm* algorithm;
    Problem problem;
    GpuSpec gpu;

    std::string words() const {
        return std::string(algorithm->name) + " on " + gpu.name + ", " + name_of(problem.dtype) + ", " +
               std::to_string(problem.heads) + " heads, " + std::to_string(problem.seq_q) + " x " +
               std::to_string(problem.seq_k) + ", d = " + std::to_string(problem.dim) +
               (problem.mask.is_causal() ? ", causal" : "");
    }
};

Question random_question(std::mt19937& random) {
    const auto one_of = [&](auto... all) {
        const std::common_type_t<decltype(all)...> list[] = {all...};
        return list[random() % sizeof...(all)];
    };
    Question q{find_algorithm(one_of("flash_v2", "flash_v1", "split_kv", "memory_efficient", "standard")),
               {},
               gpu_preset(one_of("H100", "A100", "RTX-4090"))};
    Problem& p = q.problem;
    p.heads = p.kv_heads = one_of(1, 3, 8, 16);
    p.seq_k = one_of(100, 256, 500, 1000, 2048);
    p.seq_q = one_of(Index{1}, Index{70}, p.seq_k, p.seq_k);
    p.dim = p.dim_v = one_of(32, 64, 96, 128, 256);
    p.dtype = one_of(Dtype::f16, Dtype::f16, Dtype::f32);
    if (p.seq_q == p.seq_k && random() % 2) p.mask = Mask::causal();
    return q;
}

/// The plane's mark for the best tiles, "best here 128 × 64", once the plane knows everything.
std::string best_of_plane(const Question& q, Index splits) {
    TilePlane plane({q.algorithm, q.problem, {0, 0, splits}, q.gpu});
    Control control;
    while (plane.work(control) > 0) {
    }
    for (const auto& m : show::picture_of(plane, *find_metric("time_us"), {1, 1}).marks)
        if (m.kind == show::PlanePicture::Mark::Kind::best) return m.text;
    return "";
}

}  // namespace

TEST_CASE("advice, the best tiles and the best of the plane are the same", "[advice][tiles][plane][numbers]") {
    std::mt19937 random(13);
    for (std::uint64_t n = 0; n < (sanitized ? 3 : 12); ++n) {
        const Question q = random_question(random);
        INFO(q.words());
        Wish wish;
        wish.rule = TileRule::best;
        const auto best = best_mapping(*q.algorithm, q.problem, wish, q.gpu);
        if (!best) {
            CHECK_THROWS_AS(advise(*q.algorithm, q.problem, wish, q.gpu, 2), RunError);
            continue;
        }
        const Advice advice = advise(*q.algorithm, q.problem, wish, q.gpu, 2);
        CHECK(advice.ranking[0].tiling() == best->tiling);
        const RunTime time = time_of({q.algorithm, q.problem, best->tiling, q.gpu, best->placing});
        CHECK(advice.ranking[0].value == time.us());
        CHECK(best->placing.blocks_per_sm == 0);  // the same tiles given by hand take as long
        const auto feasible = [](const Candidate& c) {
            return c.outcome.report && c.outcome.report->time && why_infeasible(*c.outcome.report->time).empty();
        };
        CHECK(feasible(advice.ranking[0]));
        for (const Candidate& c : advice.ranking) CHECK(c.value >= time.us());
        for (const Candidate& c : advice.neighbours)
            if (feasible(c)) CHECK(c.value >= time.us());
        if (feasible(advice.released)) CHECK(advice.released.value >= time.us());
        const Index splits = with_splits(wish, *q.algorithm, q.problem, q.gpu).tiling.splits;
        CHECK(best_of_plane(q, splits) ==
              "best here " + std::to_string(best->tiling.br) + " × " + std::to_string(best->tiling.bc));
    }
}

TEST_CASE("bytes that are as few are a question of time", "[tiles]") {
    Problem p;
    p.heads = p.kv_heads = sanitized ? 4 : 32, p.seq_q = p.seq_k = 4096, p.dim = p.dim_v = 128, p.dtype = Dtype::f16;
    p.mask = Mask::causal();
    Wish wish;
    wish.rule = TileRule::best, wish.objective = Objective::dram;
    const GpuSpec h100 = gpu_preset("H100");
    const std::vector<Candidate> all = ranked_tiles({*find_algorithm("flash_v2"), p, wish, h100, 2}).tiles;
    REQUIRE(all.size() > 1);
    double least = all[0].value;
    for (const Candidate& c : all) least = std::min(least, c.value);
    CHECK(all[0].value <= 1.01 * least);
    for (const Candidate& c : all)
        if (c.value <= 1.01 * least) CHECK(c.outcome.report->time->us() >= all[0].outcome.report->time->us());

    const Standing few{1000, 9, false, 1, {128, 64}}, fewer{996, 12, false, 1, {256, 64}},
        more{1100, 5, true, 1, {64, 64}};
    CHECK(comes_before(few, fewer, 996, Objective::dram));
    CHECK(comes_before(fewer, few, 996, Objective::time));
    CHECK(comes_before(fewer, more, 996, Objective::dram));
    // Of equals, the released kernel's tiles come first.
    const Standing released{7, 7, true, 2, {64, 64}}, other{7, 7, false, 1, {32, 64}};
    CHECK(comes_before(released, other, 7, Objective::time));
    CHECK_FALSE(comes_before(other, released, 7, Objective::time));
}

TEST_CASE("the best tiles for SM traffic are the first of their ranking", "[tiles]") {
    Problem p;
    p.heads = p.kv_heads = 2, p.seq_q = p.seq_k = 1024, p.dim = p.dim_v = 64, p.dtype = Dtype::f16;
    Wish wish;
    wish.rule = TileRule::best, wish.objective = Objective::sm_traffic;
    for (const Bytes kib : {8, 24, 128})
        for (const char* name : {"standard", "flash_v1", "flash_v2"}) {
            GpuSpec gpu = gpu_preset("H100");
            gpu.sram_per_sm = kib * 1024, gpu.sram_per_block = gpu.sram_per_sm - 1024;
            INFO(name << " with " << kib << " KiB");
            const Algorithm& a = *find_algorithm(name);
            const auto best = best_mapping(a, p, wish, gpu);
            REQUIRE(best);
            CHECK(best->tiling == ranked_tiles({a, p, wish, gpu, 2}).tiles[0].tiling());
        }
}

TEST_CASE("a study of counts models no times", "[tiles]") {
    const Experiment e{find_algorithm("flash_v2"), {}, {64, 64}, gpu_preset("H100")};
    const Outcome counted = outcome_of(e, nullptr, Studied::counts), timed = outcome_of(e);
    CHECK(!counted.report->time);
    CHECK(timed.report->time);
    CHECK(counted.report->counters == timed.report->counters);
    CHECK(counted.remark.empty());
}

TEST_CASE("all tiles of one query are timed as kernels of the same rows", "[tiles][time]") {
    Problem p;
    p.heads = p.kv_heads = 64, p.seq_q = 1, p.seq_k = 4096, p.dim = p.dim_v = 64, p.dtype = Dtype::f16;
    const GpuSpec h100 = gpu_preset("H100");
    const auto with = [&](const char* algorithm, Index bc) {
        return Experiment{find_algorithm(algorithm), p, {1, bc}, h100};
    };
    const auto about_cut = [](const Experiment& e) { return about_cut_tile(time_of(e), e); };
    const auto us = [&](Index bc) { return time_of(with("flash_v2", bc)).us(); };
    for (const Index bc : {16, 48, 63, 64, 65, 127, 128, 129, 256}) {
        CAPTURE(bc);
        CHECK(kernel_tiles(with("flash_v2", bc)) == Tiling{128, bc});
        CHECK(full_tiles(with("flash_v2", bc)).experiment.tiling == Tiling{128, bc});
        CHECK(kernel_tiles(with("flash_v1", bc)) == Tiling{16, bc});
    }
    for (const Index bc : {48, 64, 128})
        for (const Index near : {bc - 1, bc + 1}) {
            CAPTURE(bc, near);
            CHECK(us(near) < 1.6 * us(bc));
            CHECK(us(bc) < 1.6 * us(near));
        }
    CHECK(about_cut(with("flash_v2", 64)) == "1 x 64 as 128 x 64");
    // Rows that do not fit are halved. A kernel for few rows, and a tile of the released size, stay as they are.
    CHECK(kernel_tiles(with("flash_v2", 512)).br < 128);
    CHECK(kernel_tiles(with("flash_v2", 512)).br >= 16);
    CHECK(about_cut({find_algorithm("split_kv"), p, {1, 128, 4}, h100}).empty());
    p.seq_q = 4096;
    CHECK(about_cut({find_algorithm("flash_v2"), p, {128, 128}, h100}).empty());
    CHECK(about_cut({find_algorithm("flash_v2"), p, {16, 64}, h100}).empty());
}

TEST_CASE("tiles of a multi-head latent attention are ones that a kernel could have", "[tiles]") {
    Problem p;
    p.batch = 16, p.heads = 128, p.kv_heads = 1, p.seq_q = 1, p.seq_k = 32768, p.dim = 576, p.dim_v = 512;
    p.dtype = Dtype::bf16;
    const Algorithm& a = *find_algorithm("split_kv");
    const Problem packed = packed_for(a, p, Packing::automatic);
    const Advice advice = advise(a, packed, {}, gpu_preset("H100"), 2);
    CHECK(advice.ranking[0].outcome.report->time->spills() == false);
    REQUIRE(advice.released.outcome.report);
    CHECK(advice.released.outcome.report->time->spills());
    CHECK(advice.released.why == why_infeasible(true));
    for (const Candidate& c : advice.ranking) CHECK(c.value >= advice.ranking[0].value);
}
