#include "lab/model/warps.hpp"

#include "algorithms/contract/tile_sums.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

constexpr Warps by_keys = {4, WarpSplit::keys}, by_rows = {4, WarpSplit::rows}, kept = {4, WarpSplit::keys, true};

Problem of_dim(Index dim, Dtype dtype = Dtype::f16) {
    Problem p;
    p.dim = p.dim_v = dim, p.dtype = dtype;
    return p;
}

/// Rounded to a tenth, for comparisons.
double per_score(const Warps& w, const Problem& p, Index br, Index bc) {
    return std::round(10 * static_cast<double>(of_tile(w, p, br, bc).total()) / static_cast<double>(br * bc)) / 10;
}

Experiment experiment(const char* name, const Problem& p, Tiling t) {
    return {find_algorithm(name), p, t, gpu_preset("H100")};
}

bool any_sees(const Problem& p, Span rows, Span keys) {
    for (Index r = rows.begin; r < rows.end(); ++r)
        for (Index k = keys.begin; k < keys.end(); ++k)
            if (p.sees(r, k)) return true;
    return false;
}

/// The sum over tiles, and within them over warps. Where a key block keeps K and V, these are added once.
WarpBytes tile_by_tile(const Warps& w, const Problem& p, const Tiling& t) {
    const Tiles rows(p.seq_q, t.br), keys(p.seq_k, t.bc);
    WarpBytes sum;
    for (Index j = 0; j < keys.count(); ++j) {
        bool seen = false;
        for (Index i = 0; i < rows.count(); ++i) {
            if (p.mask.hides() && !any_sees(p, rows[i], keys[j])) continue;
            seen = true;
            const WarpBytes b = of_tile(w, p, rows[i].size, keys[j].size);
            sum.q += b.q, sum.kv += b.kv, sum.statistics += b.statistics, sum.outputs += b.outputs;
        }
        if (seen && w.keeps_keys) sum.kv += keys[j].size * (p.dim + p.dim_v) * size_of(p.dtype);
    }
    const Count heads = p.batch_heads();
    return {sum.q * heads, sum.kv * heads, sum.statistics * heads, sum.outputs * heads};
}

}  // namespace

TEST_CASE("every part of a tile's bytes, by hand", "[warps]") {
    Problem p = of_dim(64);
    p.dim_v = 32;
    // 128 x 96 in f16: each of four warps reads 128 x 64 of Q; K is 96 x 64 and V 96 x 32. Four maxima and four sums
    // per row are written in f32 and read by four warps; four O of 128 x 32 in f32 are written and read.
    CHECK(of_tile(by_keys, p, 128, 96) ==
          WarpBytes{4 * 16384, 12288 + 6144, 2 * (4 * 512 + 16 * 512), 2 * 4 * 128 * 32 * 4});
    CHECK(of_tile(kept, p, 128, 96) == WarpBytes{65536, 0, 20480, 131072});
    // Each warp reads its own rows of Q, and all of K and V.
    CHECK(of_tile(by_rows, p, 128, 96) == WarpBytes{16384, 4 * 18432, 0, 0});
    // Only operands are in the storage type.
    p.dtype = Dtype::f32;
    CHECK(of_tile(by_keys, p, 128, 96) == WarpBytes{131072, 36864, 20480, 131072});
}

TEST_CASE("bytes per score of published tiles", "[warps]") {
    CHECK(of_tile(by_keys, of_dim(64), 128, 128).total() == 380'928);
    CHECK(of_tile(by_rows, of_dim(64), 128, 128).total() == 147'456);
    CHECK(per_score(by_keys, of_dim(64), 128, 128) == 23.3);
    CHECK(per_score(by_rows, of_dim(64), 128, 128) == 9.0);
    CHECK(per_score(by_keys, of_dim(128), 128, 64) == 86.5);
    CHECK(per_score(by_rows, of_dim(128), 128, 64) == 20.0);
    // With a short and wide tile the other split is better.
    CHECK(per_score(by_keys, of_dim(64), 64, 256) == 14.6);
    CHECK(per_score(by_rows, of_dim(64), 64, 256) == 16.5);
    // The tile of FlashAttention-1's kernel.
    CHECK(of_tile(kept, of_dim(64), 16, 256).total() == 43'520);
    CHECK(of_tile(kept, of_dim(64), 16, 256).outputs == 32'768);
    CHECK(per_score(kept, of_dim(64), 16, 256) == 10.6);
}

TEST_CASE("one warp exchanges nothing, and both splits are one", "[warps]") {
    const Problem p = of_dim(64);
    const WarpBytes alone = of_tile({1, WarpSplit::rows}, p, 128, 64);
    CHECK(alone == WarpBytes{16384, 16384, 0, 0});
    CHECK(of_tile({1, WarpSplit::keys}, p, 128, 64) == alone);
    CHECK_FALSE(even_width({1, WarpSplit::keys}, p));
}

TEST_CASE("a warp has at least 16 rows or keys", "[warps]") {
    CHECK(possible(by_rows, {64, 16}));
    CHECK_FALSE(possible(by_rows, {63, 512}));
    CHECK_FALSE(possible(by_rows, {16, 256}));
    CHECK(possible(by_keys, {16, 64}));
    CHECK_FALSE(possible(by_keys, {512, 63}));
    CHECK(possible({1, WarpSplit::rows}, {1, 1}));
}

TEST_CASE("both splits move as many bytes where a tile has the even width", "[warps]") {
    const Problem p = of_dim(64);
    REQUIRE(even_width(by_keys, p) == 3.375);
    CHECK(of_tile(by_keys, p, 128, 432).total() == of_tile(by_rows, p, 128, 432).total());
    CHECK(of_tile(by_keys, p, 128, 431).total() > of_tile(by_rows, p, 128, 431).total());
    CHECK(of_tile(by_keys, p, 128, 433).total() < of_tile(by_rows, p, 128, 433).total());
    // Both splits give the same width; but where K and V are kept it differs.
    CHECK(even_width(by_rows, p) == 3.375);
    REQUIRE(even_width(kept, p) == 2.53125);
    CHECK(of_tile(kept, p, 256, 648).total() == of_tile(by_rows, p, 256, 648).total());
    CHECK(even_width(by_keys, of_dim(128)) == 5024. / 1536);
}

TEST_CASE("a run's bytes are those of the tiles that it visits, of valid rows and keys", "[warps]") {
    std::vector<Case> cases = corner_cases();
    for (std::uint64_t seed = 1; seed <= seeds(60); ++seed)
        cases.push_back(seed % 3 == 0 ? pattern_case(seed) : seed % 3 == 1 ? window_case(seed) : random_case(seed));
    for (const Case& c : cases) {
        INFO(c);
        const Experiment e = experiment("flash_v2", c.problem, c.tiling);
        for (const Warps& w : {by_keys, by_rows, kept}) CHECK(of_run(w, e) == tile_by_tile(w, c.problem, c.tiling));
    }
}

TEST_CASE("a run's bytes are the closed forms' sums over tiles, however many these are", "[warps]") {
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        const Case c = large_case(seed);
        INFO(c);
        const TileSums s = tile_sums(c.problem, c.tiling);
        const Index d = c.problem.dim, dv = c.problem.dim_v, e = size_of(c.problem.dtype), n = c.problem.batch_heads();
        const Experiment run = experiment("flash_v2", c.problem, c.tiling);
        CHECK(of_run(by_rows, run) ==
              WarpBytes{n * s.row_visits * d * e, 4 * n * s.keys_streamed * (d + dv) * e, 0, 0});
        CHECK(of_run(kept, run) == WarpBytes{4 * n * s.row_visits * d * e, n * s.keys_active * (d + dv) * e,
                                             160 * n * s.row_visits, 32 * n * s.row_visits * dv});
    }
}

TEST_CASE("what one warp reads is what the program is charged for SRAM", "[warps]") {
    Problem p = of_dim(64);
    p.seq_q = 1000, p.seq_k = 1300, p.mask = Mask::causal();
    const Experiment e = experiment("flash_v2", p, {128, 96});
    CHECK(of_run({1, WarpSplit::rows}, e).total() == count(e).counters.sram_read);
}

TEST_CASE("numbers of warps are powers of two up to 32", "[warps]") {
    for (const Index n : {1, 2, 4, 8, 16, 32}) CHECK_NOTHROW(validate_warps(n));
    for (const Index n : {-4, 0, 3, 6, 33, 64})
        CHECK_THROWS_WITH(validate_warps(n),
                          Catch::Matchers::ContainsSubstring("must be a power of two from 1 to 32; try warps 4"));
}

TEST_CASE("released kernels: who has which split, and how many warps", "[warps]") {
    const auto first = *released_warps(experiment("flash_v1", of_dim(64), {16, 256}));
    CHECK(first.warps.split == WarpSplit::keys);
    CHECK(first.warps.number == 4);
    CHECK(first.warps.keeps_keys);
    CHECK(first.tiling == Tiling{16, 256});
    // 256 keys of 64 + 64 in 4 warps of 32 threads: 128 registers each. With 128 + 128 they would be 256; a thread has
    // 255.
    CHECK(registers_of_keys(4, of_dim(64), 256) == 128);
    CHECK_FALSE(released_warps(experiment("flash_v1", of_dim(128), {16, 256}))->warps.keeps_keys);
    CHECK(released_warps(experiment("flash_v1", of_dim(128), {16, 256}), 8)->warps.keeps_keys);

    const auto second = *released_warps(experiment("flash_v2", of_dim(64), {128, 128}));
    CHECK(second.warps.split == WarpSplit::rows);
    CHECK(second.warps.number == 4);
    CHECK_FALSE(second.warps.keeps_keys);
    CHECK(released_warps(experiment("flash_v2", of_dim(192), {128, 64}))->number == 8);
    // With another number of warps asked for, the kernel's own number stays what it is.
    const auto asked = *released_warps(experiment("flash_v2", of_dim(64), {128, 128}), 2);
    CHECK(asked.warps.number == 2);
    CHECK(asked.number == 4);
    // There is no released kernel for f32; the one for f16 is named.
    CHECK(released_warps(experiment("flash_v2", of_dim(64, Dtype::f32), {64, 64}))->tiling == Tiling{128, 128});

    CHECK_FALSE(released_warps(experiment("standard", of_dim(64), {64, 64})));
    CHECK_FALSE(released_exchange(experiment("flash_v2", of_dim(64), {64, 64})));
    // Where there is no such kernel, its rule is applied to the problem.
    CHECK(second.kernel == "FlashAttention-2's released kernel");
    CHECK(released_warps(experiment("flash_v2", of_dim(320), {64, 64}))->kernel ==
          "A kernel by FlashAttention-2's rule for d = 256");
    CHECK(released_warps(experiment("flash_v1", of_dim(256), {16, 128}))->kernel ==
          "A kernel by FlashAttention-1's rule for d = 128");
    CHECK(released_exchange(experiment("flash_v2_backward", of_dim(320), {64, 64}))->kernel ==
          "A kernel by FlashAttention-2's rule for d = 256");
}

TEST_CASE("backward passes: partial dQ by split K, or P and dS", "[warps]") {
    const auto first = *released_exchange(experiment("flash_v1_backward", of_dim(64), {16, 256}));
    CHECK(first.partial_sums);
    CHECK(first.bytes == 16 * 64 * 8 * 4);
    CHECK(released_exchange(experiment("flash_v1_backward", of_dim(64), {16, 256}), 1)->bytes == 0);
    for (const char* name : {"flash_v2_backward", "flash_v2_deterministic_backward"}) {
        const auto second = *released_exchange(experiment(name, of_dim(128), {64, 128}));
        CHECK_FALSE(second.partial_sums);
        CHECK(second.bytes == 2 * 64 * 128 * 2);
    }
    CHECK_FALSE(released_exchange(experiment("two_pass_backward", of_dim(64), {64, 64})));
}
