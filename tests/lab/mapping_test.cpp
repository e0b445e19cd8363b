#include "lab/model/mapping.hpp"

#include <algorithm>
#include <regex>
#include <sstream>

#include "core/machine/dtypes.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/run/experiment.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

Problem problem(Index seq, Index dim, Dtype dtype = Dtype::f16) {
    Problem p;
    p.heads = p.kv_heads = 1;
    p.seq_q = p.seq_k = seq;
    p.dim = p.dim_v = dim;
    p.dtype = dtype;
    return p;
}

bool runs(const Algorithm& a, const Case& c, const GpuSpec& gpu) {
    try {
        run(a, c, gpu, count_mode);
        return true;
    } catch (const OutOfChipMemory&) {
        return false;
    }
}

/// A GPU so small that some random cases fit on it and others do not.
GpuSpec tiny(std::uint64_t seed) {
    const auto size = [&](std::uint64_t salt) { return Bytes{1} << (4 + (seed * 7 + salt * 3) % 11); };
    return machine(size(1) + static_cast<Bytes>(seed % 13), size(seed / 11) + static_cast<Bytes>(seed % 7) * 4);
}

template <class F>
void for_tiny(std::uint64_t cases, F&& f) {
    for (std::uint64_t seed = 1; seed <= cases; ++seed)
        for (const Algorithm& a : algorithms()) {
            const Case c = as_supported(a, random_case(seed));
            const GpuSpec gpu = tiny(seed);
            INFO(to_string(a, c) << ", SRAM " << gpu.sram_per_block << " B, registers " << gpu.registers_per_sm
                                 << " B");
            f(a, c, gpu);
        }
}

/// The explanation of why this tiling does not fit, and the error that is explained.
std::pair<std::string, OutOfChipMemory> explained(const Algorithm& a, const Case& c, const GpuSpec& gpu) {
    try {
        run(a, c, gpu, count_mode);
    } catch (const OutOfChipMemory& e) {
        return {explain(e, a, c.problem, c.tiling, gpu), e};
    }
    throw std::logic_error("it fits");
}

}  // namespace

TEST_CASE("tiling: the paper's rule", "[tiling]") {
    // FlashAttention, Algorithm 1, line 1: Bc = ceil(M / 4d), Br = min(Bc, d).
    const auto rule = [](const Problem& p, Bytes sram) { return paper_rule(p, machine(sram, 1)); };
    CHECK((rule(problem(4096, 64), 192 << 10) == Tiling{64, 384}));
    CHECK((rule(problem(4096, 64), 64 << 10) == Tiling{64, 128}));
    CHECK((rule(problem(4096, 128), 64 << 10) == Tiling{64, 64}));
    CHECK((rule(problem(4096, 64, Dtype::f32), 64 << 10) == Tiling{64, 64}));
    CHECK((rule(problem(4096, 64, Dtype::bf16), 64 << 10) == Tiling{64, 128}));
    // With one element more, Bc grows by a whole row; but tiles are multiples of 16.
    CHECK((rule(problem(4096, 64), 8 * 64 * 127 + 2) == Tiling{64, 128}));
    CHECK((rule(problem(4096, 64), 8 * 64 * 127) == Tiling{64, 112}));
    CHECK((rule(problem(4096, 100), 64 << 10) == Tiling{80, 80}));
    // Very small tiles are no multiples of 16.
    CHECK((rule(problem(4096, 64), 8 * 64 * 13) == Tiling{13, 13}));
    CHECK((rule(problem(4096, 64), 1) == Tiling{1, 1}));
    CHECK((rule(problem(4096, 3), 64 << 10) == Tiling{3, 2720}));
    // A tile is never larger than the problem.
    Problem small = problem(100, 64);
    small.seq_q = 10;
    CHECK((rule(small, 192 << 10) == Tiling{10, 100}));
    // Only the SRAM that a thread block can have counts.
    GpuSpec gpu = machine(64 << 10, 1);
    gpu.sram_per_sm = 1 << 20;
    CHECK((paper_rule(problem(4096, 64), gpu) == Tiling{64, 128}));
}

TEST_CASE("tiling: what fits runs, and what does not fit throws", "[tiling]") {
    int fitting = 0, refused = 0;
    for_tiny(seeds(1500), [&](const Algorithm& a, const Case& c, const GpuSpec& gpu) {
        const bool fit = fits(a, c.problem, c.tiling, gpu), ran = runs(a, c, gpu);
        if (fit && !ran) FAIL("fits, but does not run");
        // Where causality skips the largest tiles, a tiling may run that would otherwise not fit.
        if (!fit && ran && !c.problem.mask.hides()) FAIL("runs, but does not fit");
        ++(fit ? fitting : refused);
    });
    CHECK(fitting > static_cast<int>(seeds(1000)));
    CHECK(refused > static_cast<int>(seeds(1000)));
}

TEST_CASE("tiling: the peaks of a run are exactly what it needs", "[tiling]") {
    for_tiny(100, [](const Algorithm& a, const Case& c, const GpuSpec&) {
        Case plain = c;
        plain.problem.mask = {};
        const Outcome o = run(a, plain, roomy(), count_mode);
        CHECK(fits(a, plain.problem, plain.tiling, machine(o.sram_peak, o.register_peak)));
        if (o.sram_peak > 0)
            CHECK_FALSE(fits(a, plain.problem, plain.tiling, machine(o.sram_peak - 1, o.register_peak)));
    });
}

TEST_CASE("tiling: a completed tiling fits and keeps the sizes that were given", "[tiling]") {
    int found = 0, none = 0;
    for_tiny(seeds(800), [&](const Algorithm& a, const Case& c, const GpuSpec& gpu) {
        for (const Tiling& given : {Tiling{0, 0}, Tiling{c.tiling.br, 0}, Tiling{0, c.tiling.bc}, c.tiling}) {
            const auto t = fitting_tiling(a, c.problem, given, gpu);
            INFO("given " << given.br << ", " << given.bc);
            if (!t) {
                ++none;
                const Tiling least = {std::max<Index>(given.br, 1), std::max<Index>(given.bc, 1), given.splits};
                if (fits(a, c.problem, least, gpu)) FAIL("one would have fitted");
                continue;
            }
            ++found;
            INFO("completed " << t->br << ", " << t->bc);
            if (!runs(a, {c.problem, *t, c.seed}, gpu)) FAIL("it does not fit");
            if (given.br > 0 && t->br != given.br) FAIL("Br was given");
            if (given.bc > 0 && t->bc != given.bc) FAIL("Bc was given");
            if (t->br < 1 || t->bc < 1) FAIL("tiles of nothing");
        }
    });
    CHECK(found > static_cast<int>(seeds(5000)));
    CHECK(none > static_cast<int>(seeds(5000)));
}

TEST_CASE("tiling: the paper's rule is kept where it fits, and halved where it does not", "[tiling]") {
    const GpuSpec a100 = gpu_preset("A100-40GB");
    for (const Algorithm& a : algorithms()) {
        const Problem p = problem(1024, 64);
        const auto t = fitting_tiling(a, p, {}, a100, TileRule::paper);
        INFO(a.name);
        REQUIRE(t);
        const Tiling rule = paper_rule(p, a100);
        CHECK((*t == rule) == fits(a, p, rule, a100));
        CHECK(t->br <= rule.br);
        CHECK(t->bc <= rule.bc);
        // The rule does not halve more often than needed.
        const Tiling twice = {t->br, std::min(2 * t->bc, rule.bc)}, both = {std::min(2 * t->br, rule.br), twice.bc};
        if (!(*t == rule)) CHECK_FALSE(fits(a, p, both, a100));
    }
    // The rule knows nothing of registers: S of 64 x 384 takes 96 KiB of them; S of 64 x 96 beside O and P V, 56 KiB.
    CHECK((*fitting_tiling(*find_algorithm("flash_v1"), problem(1024, 64), {}, machine(192 << 10, 64 << 10),
                           TileRule::paper) == Tiling{64, 96}));
}

TEST_CASE("tiling: a choice keeps what was asked for, even where it does not fit", "[tiling]") {
    const Algorithm& a = *find_algorithm("flash_v2");
    const GpuSpec toy = gpu_preset("toy");
    const Problem p = problem(256, 16, Dtype::f32);
    CHECK((choose_tiling(a, p, {{512, 512}}, toy) == Tiling{512, 512}));
    const Tiling free = choose_tiling(a, p, {}, toy);
    CHECK(fits(a, p, free, toy));
    CHECK((choose_tiling(a, p, {{2, 0}}, toy).br == 2));
    CHECK((choose_tiling(a, p, {{0, 3}}, toy).bc == 3));
    // Nothing fits beside 512 rows: the run of the smallest choice says why.
    CHECK((choose_tiling(a, p, {{512, 0}}, toy) == Tiling{512, 1}));
    CHECK_THROWS_AS(run(a, {p, {512, 1}, 1}, toy, count_mode), OutOfChipMemory);

    const auto refusal = [&](const Tiling& given) {
        return message_of<BadValue>([&] { choose_tiling(a, p, {given}, toy); });
    };
    CHECK(refusal({-1, 0}) == "br -1: must be at least 1, or auto; try br 64");
    CHECK(refusal({8, -20}) == "bc -20: must be at least 1, or auto; try bc 64");
    CHECK(contains(refusal({(Index{1} << 31) + 1, 0}), "br 2147483649: must be at most 2^31"));
    CHECK(contains(refusal({0, (Index{1} << 31) + 1}), "the sequence has 256 rows; try bc auto"));
}

TEST_CASE("tiling: an explanation tells what was asked for from what was chosen", "[tiling]") {
    const Algorithm &v2 = *find_algorithm("flash_v2"), &split = *find_algorithm("split_kv");
    const Problem p = problem(256, 16, Dtype::f32);
    const GpuSpec toy = gpu_preset("toy");
    const OutOfChipMemory e = explained(v2, {p, {512, 1}, 1}, toy).second;
    const auto beginning = [&](const Algorithm& a, const Tiling& tiling, const Tiling& given) {
        const std::string text = explain(e, a, p, tiling, toy, given);
        return text.substr(0, text.find(':'));
    };
    CHECK(beginning(v2, {512, 1}, {512, 1}) == "--br 512 --bc 1 does not fit");
    CHECK(beginning(v2, {512, 1}, {512, 0}) == "--br 512 does not fit, not even with --bc 1");
    CHECK(beginning(v2, {1, 1}, {}) == "not even --br 1 --bc 1 fits");
    CHECK(beginning(split, {512, 64, 4}, {512, 64, 0}) == "--br 512 --bc 64 does not fit with --splits 4");
}

TEST_CASE("tiling: an explanation lists what is on chip and a tiling that fits", "[long][tiling]") {
    int with_fix = 0, without = 0;
    for_tiny(800, [&](const Algorithm& a, const Case& c, const GpuSpec& gpu) {
        if (runs(a, c, gpu)) return;
        const auto [text, error] = explained(a, c, gpu);
        INFO(text);
        const std::string flags = "--br " + std::to_string(c.tiling.br) + " --bc " + std::to_string(c.tiling.bc) +
                                  (has_splits(a.knobs) ? " --splits " + std::to_string(c.tiling.splits) : "");
        if (!text.starts_with(flags + " does not fit: " + a.name + " needs ")) FAIL("the beginning");
        if (!contains(text, std::to_string(error.missing()) + " B are missing")) FAIL("what is missing");

        // One line for each tile; together they take what is needed.
        Bytes sum = 0;
        Count tiles = 0;
        const std::regex tile(R"(\n    (\S[^\[\n]*) \[(\d+) x (\d+) (\w+)\]  (\d+) B)");
        for (std::sregex_iterator m(text.begin(), text.end(), tile), end; m != end; ++m, ++tiles) {
            sum += std::stoll((*m)[5]);
            if (std::stoll((*m)[2]) * std::stoll((*m)[3]) * size_of(*dtype_from((*m)[4].str())) != std::stoll((*m)[5]))
                FAIL("the bytes of " << (*m)[1]);
        }
        if (tiles != static_cast<Count>(error.live.size()) + 1) FAIL(tiles << " tiles are listed");
        if (sum != error.used + error.wanted.bytes || sum <= error.capacity) FAIL("they take " << sum << " B");

        std::smatch fix;
        if (!std::regex_search(text, fix, std::regex(R"(this fits: --br (\d+) --bc (\d+)(?: --splits (\d+))?$)"))) {
            ++without;
            if (!contains(text, "no tiling fits") || fits(a, c.problem, {1, 1}, gpu))
                FAIL("a tiling of 1 x 1 would fit");
            return;
        }
        ++with_fix;
        if (fix[3].matched != has_splits(a.knobs) && c.tiling.splits > 0) FAIL("the parts");
        const Index splits = fix[3].matched ? std::stoll(fix[3]) : 0;
        if (!runs(a, {c.problem, {std::stoll(fix[1]), std::stoll(fix[2]), splits}, 1}, gpu))
            FAIL("the fix does not fit");
    });
    CHECK(with_fix > 200);
    CHECK(without > 200);
}

TEST_CASE("tiling: a fix changes as little as it can of what was asked for", "[tiling]") {
    const Algorithm& a = *find_algorithm("flash_v2");
    const GpuSpec toy = gpu_preset("toy");  // 2 KiB of SRAM, 4 KiB of registers
    const Problem p = problem(64, 16, Dtype::f32);
    const auto fix = [&](const Tiling& t) {
        const std::string text = explained(a, {p, t, 1}, toy).first;
        return text.substr(text.rfind('\n') + 1);
    };
    CHECK(contains(fix({8, 64}), "--br 8 --bc "));  // Br can stay
    CHECK(contains(fix({64, 8}), " --bc 8"));       // only Bc can stay
    CHECK(!contains(fix({64, 64}), "--br 64"));     // neither can stay
    CHECK(!contains(fix({64, 64}), "--bc 64"));
    CHECK(contains(fix({64, 1}), "--bc "));  // nothing fitted, so 1 was chosen
    CHECK(!fix({64, 1}).ends_with("--bc 1"));
    const std::string none = explained(a, {problem(64, 4096, Dtype::f32), {1, 1}, 1}, toy).first;
    CHECK(
        contains(none, "no tiling fits: give the SMs more with --sram KIB, choose another --gpu, or a smaller --dim"));
}
