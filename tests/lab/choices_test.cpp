// What is chosen for the user: published tiles, the best tiles, the order of thread blocks; and what a comparison says.
#include <cmath>
#include <set>

#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/model/timing.hpp"
#include "lab/study/conclusion.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

Problem problem(Index heads, Index seq, Index dim, Dtype dtype = Dtype::f16, bool causal = false) {
    Problem p;
    p.heads = p.kv_heads = heads, p.seq_q = p.seq_k = seq, p.dim = p.dim_v = dim, p.dtype = dtype;
    if (causal) p.mask = Mask::causal();
    return p;
}

Tiling published(const char* algorithm, Index dim, const char* gpu, bool causal = false, Dtype dtype = Dtype::f16) {
    return published_tiling(*find_algorithm(algorithm), problem(8, 4096, dim, dtype, causal), gpu_preset(gpu));
}

/// An H100 with `kib` KiB of SRAM per SM.
GpuSpec with_sram(Bytes kib) {
    GpuSpec gpu = gpu_preset("H100");
    gpu.sram_per_sm = kib * 1024, gpu.sram_per_block = gpu.sram_per_sm - 1024;
    return gpu;
}

/// The value of the objective for the best mapping; infinite where nothing fits.
double least(const Algorithm& a, const Problem& p, const GpuSpec& gpu, Objective objective) {
    const auto best = best_mapping(a, p, {.tiling = {}, .rule = TileRule::best, .objective = objective}, gpu);
    if (!best) return INFINITY;
    const Experiment e{&a, p, best->tiling, gpu, best->placing};
    return objective == Objective::time ? time_of(e).us() : static_cast<double>(count(e).counters.hbm());
}

std::vector<std::string> said(const std::vector<const char*>& names, const Problem& p,
                              const GpuSpec& gpu = gpu_preset("H100")) {
    std::vector<Report> reports;
    for (const char* name : names) reports.push_back(count_and_time({find_algorithm(name), p, {128, 128}, gpu}));
    std::vector<Contender> contenders;
    for (std::size_t k = 0; k < names.size(); ++k) contenders.push_back({names[k], &reports[k]});
    return conclusion(contenders);
}

}  // namespace

TEST_CASE("what is equal is no reason", "[tiles]") {
    Problem decode = problem(132, 8192, 128);
    decode.seq_q = 1;
    for (const Problem& p : {decode, problem(8, 1024, 64), problem(64, 4096, 64, Dtype::f16, true)})
        for (const std::string& line : said({"standard", "flash_v1", "flash_v2", "memory_efficient", "split_kv"}, p)) {
            INFO(line);
            const std::size_t at = line.find(" against ");
            if (at == std::string::npos) continue;
            const std::string last = line.substr(at + 9, line.find_first_of(",.;", at + 14) - at - 9);
            CHECK(line.substr(0, at).find(' ' + last) == std::string::npos);
        }
}

TEST_CASE("SM traffic is a reason where faster memory would help, and not elsewhere", "[tiles][numbers]") {
    int reasons = 0;
    for (const double rate : {0.25, 1.0})
        for (const Problem& p :
             {problem(64, 4096, 64), problem(8, 4096, 64, Dtype::f16, true), problem(16, 1024, 128)}) {
            Experiment e{nullptr, p, {128, 128}, gpu_preset("H100")};
            const auto scale = [&](double times) {
                *e.gpu.l2_read_bytes_per_clk *= times, *e.gpu.sm_bytes_per_clk *= times;
            };
            scale(rate);
            const auto lines = said({"standard", "three_pass", "flash_v2", "memory_efficient", "chunked"}, p, e.gpu);
            const GpuSpec gpu = e.gpu;
            for (const std::string& line : lines) {
                if (line.find(" x the SM traffic") == std::string::npos) continue;
                ++reasons;
                e.algorithm = find_algorithm(line.substr(0, line.find(' ')));
                e.gpu = gpu;
                const double us = time_of(e).us();
                scale(2), e.gpu.hbm_gbs *= 2, *e.gpu.copy_gbs *= 2;
                INFO(line << ", with twice the rates " << time_of(e).us() << " of " << us << " us");
                CHECK(time_of(e).us() < 0.97 * us);
            }
        }
    CHECK(reasons > 0);
    const auto default_table = said({"flash_v2", "memory_efficient"}, problem(64, 4096, 64));
    CHECK(contains(default_table.back(), "a loop step waits for "));
}

TEST_CASE("where launching is most of the time, launches are the reason", "[tiles]") {
    for (const std::string& line : said({"standard", "flash_v2", "memory_efficient"}, problem(2, 128, 64))) {
        if (line.find(" as long") == std::string::npos) continue;
        INFO(line);
        CHECK((contains(line, "its 2 other launches take ") || contains(line, " beside its launch, against ")));
    }
}

TEST_CASE("a tail is the reason of what it can make, and of no more", "[tiles]") {
    const Problem p = problem(64, 4096, 64, Dtype::f16, true);
    Experiment one{find_algorithm("flash_v2"), p, {128, 128}, gpu_preset("H100")};
    const Report two = count_and_time(one);
    one.placing.blocks_per_sm = 1;
    const Report alone = count_and_time(one);
    const Contender both[] = {{"two", &two, false}, {"alone", &alone, false}};
    CHECK(contains(conclusion(both).back(), "warps on an SM on average against"));
}

TEST_CASE("published tiles are those of the released kernels", "[tiles]") {
    for (const char* gpu : {"A100-40GB", "H100-SXM", "RTX-4090"}) {
        CHECK((published("flash_v2", 32, gpu) == Tiling{128, 128}));
        CHECK((published("flash_v2", 64, gpu, true) == Tiling{128, 128}));
        CHECK((published("flash_v2", 192, gpu) == Tiling{128, 64}));
        CHECK((published("flash_v1", 64, gpu) == Tiling{16, 256}));
        CHECK((published("flash_v1", 128, gpu) == Tiling{16, 128}));
        CHECK((published("memory_efficient", 64, gpu) == Tiling{64, 64}));
        CHECK((published("memory_efficient", 128, gpu) == Tiling{64, 128}));
        CHECK((published("memory_efficient", 192, gpu) == Tiling{32, 128}));
        CHECK((published("flash_v2", 64, gpu, false, Dtype::f32) == Tiling{64, 64}));
    }
    CHECK((published("flash_v2", 96, "H100-SXM", true) == Tiling{128, 64}));
    CHECK((published("flash_v2", 96, "RTX-3090", true) == Tiling{64, 64}));
    CHECK((published("flash_v2", 128, "A100-40GB", true) == Tiling{128, 64}));
    CHECK((published("flash_v2", 128, "RTX-4090") == Tiling{128, 32}));
    CHECK((published("flash_v2", 128, "RTX-4090", true) == Tiling{64, 64}));
    CHECK((published("flash_v2", 256, "A100-40GB") == Tiling{128, 64}));
    CHECK((published("flash_v2", 256, "H100-SXM") == Tiling{64, 64}));
    CHECK((published("memory_efficient", 128, "T4") == Tiling{32, 128}));
    // Tiles are cut to the problem, and halved until they fit.
    const Algorithm& a = *find_algorithm("flash_v2");
    CHECK((choose_tiling(a, problem(1, 100, 64), {}, gpu_preset("H100")) == Tiling{100, 100}));
    CHECK(fits(a, problem(1, 4096, 256), choose_tiling(a, problem(1, 4096, 256), {}, gpu_preset("T4")),
               gpu_preset("T4")));
}

TEST_CASE("dropout has the tiles of the library's kernels with dropout", "[tiles]") {
    const auto dropping = [](Index dim, const char* gpu) {
        Problem p = problem(8, 4096, dim, Dtype::f16, false);
        p.dropout.p = 0.1;
        return published_tiling(*find_algorithm("flash_v2"), p, gpu_preset(gpu));
    };
    for (const char* gpu : {"A100-40GB", "H100-SXM", "RTX-4090"}) {
        CHECK((dropping(32, gpu) == Tiling{128, 128}));
        CHECK((dropping(64, gpu) == Tiling{128, 64}));
        CHECK((dropping(128, gpu) == Tiling{128, 32}));
        CHECK((dropping(192, gpu) == Tiling{64, 64}));
    }
}

TEST_CASE("where there is no released kernel, its rule is said to be carried on", "[tiles]") {
    const auto source = [](const char* algorithm, Index dim, const char* gpu, bool bias = false) {
        Problem p = problem(8, 4096, dim, Dtype::f16, false);
        if (bias) p.bias.terms = {{}};
        return published_tiles(*find_algorithm(algorithm), p, gpu_preset(gpu));
    };
    const auto says = [](const PublishedTiles& t, const std::string& words) {
        INFO(t.source);
        CHECK_FALSE(t.carried_on.empty());
        CHECK(t.source == words);
    };
    says(source("flash_v2", 320, "H100-SXM"), "by FlashAttention-2's rule for d = 256, carried on");
    says(source("flash_v2", 64, "V100"), "by FlashAttention-2's rule for an A100, carried on");
    says(source("split_kv", 512, "T4"), "by FlashAttention-2's rule for d = 256 and an A100, carried on");
    says(source("flash_v1", 256, "A100-40GB"), "by FlashAttention-1's rule for d = 128, carried on");
    says(source("flash_v1", 64, "V100"), "by FlashAttention-1's rule for an A100, carried on");
    says(source("flash_v2", 64, "H100-SXM", true), "by FlashAttention-2's rule without a bias, carried on");
    for (const char* algorithm : {"flash_v2", "flash_v2_backward", "split_kv", "flash_v1"})
        CHECK(source(algorithm, 128, "A100-40GB").carried_on.empty());
    CHECK(source("memory_efficient", 512, "V100", true).carried_on.empty());
    CHECK(source("flash_v1", 64, "T4").carried_on.empty());
}

TEST_CASE("with more SRAM the best is never worse", "[tiles][numbers]") {
    const Algorithm& a = *find_algorithm("flash_v2");
    for (const Objective objective : {Objective::sm_traffic, Objective::time}) {
        double before = INFINITY;
        for (const Bytes kib : {17, 33, 65, 100, 164, 228, 400}) {
            const double now = least(a, problem(16, 1024, 64), with_sram(kib), objective);
            INFO(name_of(objective) << ", " << kib << " KiB");
            CHECK(now <= before);
            before = now;
        }
        CHECK(before < INFINITY);
    }
}

TEST_CASE("the best is no worse than what was tried, and keeps what was given", "[tiles]") {
    const Algorithm& a = *find_algorithm("flash_v2");
    const GpuSpec gpu = gpu_preset("H100");
    const Problem p = problem(16, 1024, 64);
    const double best = least(a, p, gpu, Objective::time);
    for (const Tiling& t : {Tiling{128, 128}, Tiling{64, 64}, Tiling{128, 64}, Tiling{64, 128}})
        CHECK(best <= time_of({&a, p, t, gpu}).us());
    const auto given = best_mapping(a, p, {.tiling = {64, 0}, .rule = TileRule::best}, gpu);
    REQUIRE(given);
    CHECK(given->tiling.br == 64);
    CHECK_FALSE(best_mapping(a, problem(1, 64, 4096), {.tiling = {}, .rule = TileRule::best}, gpu_preset("toy")));
    Control stopped;
    stopped.stop = true;
    CHECK_THROWS_AS(best_mapping(a, p, {.tiling = {}, .rule = TileRule::best}, gpu, &stopped), Interrupted);
}

TEST_CASE("an SM holds no more thread blocks than it is allowed", "[tiles]") {
    Experiment e{find_algorithm("flash_v2"), problem(64, 4096, 64, Dtype::f32), {64, 64}, gpu_preset("H100")};
    const Index fit = time_of(e).launches[0].residency.blocks;
    REQUIRE(fit > 1);
    e.placing.blocks_per_sm = 1;
    CHECK(time_of(e).launches[0].residency.blocks == 1);
    CHECK(time_of(e).launches[0].residency.limit == ResidencyLimit::asked);
    e.placing.blocks_per_sm = 1000;
    CHECK(time_of(e).launches[0].residency.blocks == fit);
}

TEST_CASE("every order starts every thread block once", "[tiles]") {
    const Tiles rows(3, 1, "i"), keys(2, 1, "j");
    const std::vector<std::vector<Axis>> grids = {
        {uniform(Index{2}, "head"), graded(rows, Seen(keys).and_before_end(0))},
        {uniform(Index{2}, "head"), uniform(rows), uniform(keys)},
        {uniform(Index{5}, "head")}};
    for (const auto& grid : grids)
        for (const Order order : orders) {
            std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
            for (const BlockOfHead& b : dispatch(grid, order)) CHECK(seen.emplace(b.head, b.block).second);
            Count all = 1;
            for (const Axis& a : grid) all *= a.tiles.count();
            CHECK(static_cast<Count>(seen.size()) == all);
        }
    const auto blocks = [&](Order order) {
        std::vector<std::pair<int, int>> list;
        for (const BlockOfHead& b : dispatch(grids[0], order)) list.emplace_back(b.head, b.block);
        return list;
    };
    using List = std::vector<std::pair<int, int>>;
    CHECK(blocks(Order::rows) == List{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}});
    CHECK(blocks(Order::heads) == List{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}});
    CHECK(blocks(Order::longest) == List{{0, 2}, {1, 2}, {0, 1}, {1, 1}, {0, 0}, {1, 0}});
    CHECK(blocks(Order::snake) == List{{0, 0}, {0, 1}, {0, 2}, {1, 2}, {1, 1}, {1, 0}});
}

TEST_CASE("the first table says what silicon says, and why", "[conclusion]") {
    const auto lines = said({"standard", "flash_v1", "flash_v2", "two_pass"}, problem(64, 4096, 64));
    REQUIRE(lines.size() == 4);
    CHECK(contains(lines[0], "Fastest of these programs, as modelled: flash_v2, "));
    CHECK(contains(lines[1], "two_pass takes 1.7 x as long: 1.5 x the matrix FLOPs."));
    CHECK(contains(lines[2], "flash_v1 takes 2.3 x as long: 64 thread blocks for 132 SMs"));
    CHECK(contains(lines[3], "standard takes"));
    CHECK(contains(lines[3], "from and to DRAM against"));
    // Two runs of one kernel give nothing to say.
    const auto same = said({"flash_v2", "flash_v2"}, problem(64, 4096, 64));
    REQUIRE(same.size() == 1);
    CHECK(contains(same[0], "Too close to call: flash_v2 ("));
    CHECK(said({"flash_v2"}, problem(64, 4096, 64)).empty());
    // 2.2 TB of S and P do not fit in HBM, so there is no time.
    CHECK(said({"standard", "flash_v2"}, problem(8, 262144, 64)).empty());
}

TEST_CASE("what does not fit in HBM is counted, and has no time", "[hbm]") {
    const Experiment e{find_algorithm("standard"), problem(8, 262144, 64), {128, 128}, gpu_preset("H100")};
    const Report r = count_and_time(e);
    CHECK_FALSE(r.fits_hbm());
    CHECK_FALSE(r.time);
    CHECK(r.counters.hbm() > 0);
    CHECK(contains(beyond_hbm(e), "standard's tensors take 2.20 TB, H100-SXM has 85.9 GB of HBM"));
    CHECK_THROWS_AS(check_hbm(e), RunError);
    const Experiment small{find_algorithm("standard"), problem(1, 64, 64), {64, 64}, gpu_preset("H100")};
    CHECK(beyond_hbm(small).empty());
    CHECK_NOTHROW(check_hbm(small));
}

TEST_CASE("without an L2 DRAM moves what crosses the SMs' boundaries", "[hbm]") {
    Experiment e{find_algorithm("flash_v2"), problem(16, 2048, 64), {128, 128}, gpu_preset("H100")};
    const Report with = count_and_time(e);
    e.gpu.l2_bytes = 0;
    const Report without = count_and_time(e);
    REQUIRE(without.dram());
    CHECK(without.dram()->read == without.counters.hbm_read);
    CHECK(without.dram()->written == without.counters.hbm_write);
    CHECK(without.l2_hit_rate() == 0.0);
    CHECK(with.dram()->read == with.compulsory_read());
    CHECK(with.time->us() <= without.time->us());
    CHECK(*with.dram_intensity() > *without.dram_intensity());
}
