#include "lab/workload/splits.hpp"

#include "core/machine/conversions.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

/// FlashAttention-2's number of parts, for `blocks` thread blocks of rows and key blocks of 128.
Index fa2(Index blocks, Index keys, Index sms = 108) {
    return fa2_splits({blocks, 1, ceil_div(keys, 128), 0, false}, sms);
}

Problem decode(Index batch, Index heads, Index kv_heads, Index keys, Index dim = 128) {
    Problem p;
    p.batch = batch, p.heads = heads, p.kv_heads = kv_heads, p.seq_q = 1, p.seq_k = keys, p.dim = p.dim_v = dim;
    return p;
}

/// The rule by its definition, in double precision: the fewest parts whose share of full waves is at least 85% of the
/// best share. `slack` decides about shares of exactly 85%, which the libraries' f32 may round either way.
Index smallest_of_the_best(Index blocks, Index slots, Index most, Index key_blocks, bool only_eligible, double slack) {
    const auto share = [&](Index s) {
        const Index waves = (blocks * s + slots - 1) / slots;
        return static_cast<double>(blocks * s) / static_cast<double>(waves * slots);
    };
    const auto eligible = [&](Index s) {
        return !only_eligible || s == 1 || (key_blocks + s - 1) / s != (key_blocks + s - 2) / (s - 1);
    };
    double best = 0;
    for (Index s = 1; s <= most; ++s)
        if (eligible(s)) best = std::max(best, share(s));
    for (Index s = 1; s <= most; ++s)
        if (eligible(s) && share(s) >= 0.85 * best - slack) return s;
    return 1;
}

}  // namespace

TEST_CASE("FlashAttention-2's rule gives its own examples", "[splits]") {
    CHECK(fa2(8, 8192) == 22);
    CHECK(fa2(2, 65536) == 103);
    CHECK(fa2(32, 4096) == 6);
    CHECK(fa2(128, 4096) == 3);
    CHECK(fa2(256, 4096) == 1);
    // heuristics.h: for 48 blocks on 108 SMs, 2 parts (0.89) are better than 3 (0.67).
    CHECK(fa3_splits({48, 1, 64, 0, false}, 108) == 2);
    CHECK(fa2_splits({48, 1, 64, 0, false}, 54) == 2);
}

TEST_CASE("parts of the same size are one choice for FlashAttention-2", "[splits]") {
    // One block of rows on ever more SMs gets ever more parts: all numbers into which 64 key blocks can be cut.
    std::vector<Index> chosen;
    for (Index sms = 1; sms <= 400; ++sms)
        if (const Index s = fa2_splits({1, 1, 64, 0, false}, sms); chosen.empty() || s > chosen.back())
            chosen.push_back(s);
    for (const Index s : chosen) {
        const std::vector<Index> eligible = {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 16, 22, 32, 64};
        CAPTURE(s);
        CHECK(std::find(eligible.begin(), eligible.end(), s) != eligible.end());
    }
    CHECK(chosen.back() == 64);
}

TEST_CASE("both rules choose the fewest parts that nearly fill waves best", "[splits]") {
    for (Index blocks = 1; blocks < 140; blocks += 3)
        for (const Index keys : {1, 2, 4, 5, 7, 31, 64, 100, 1000})
            for (const Index sms : {1, 2, 40, 108, 132}) {
                CAPTURE(blocks, keys, sms);
                const SplitSetting s{blocks, 1, keys, 1000, false};
                const Index most2 = std::min<Index>({128, 2 * sms, keys}), most3 = std::min<Index>({128, sms, keys});
                const bool full2 = static_cast<double>(blocks) >= 1.6 * static_cast<double>(sms) - 1e-6,
                           full3 = static_cast<double>(blocks) >= 0.8 * static_cast<double>(sms) - 1e-6;
                const auto either = [&](Index chosen, Index slots, Index most, bool only_eligible) {
                    return chosen == smallest_of_the_best(blocks, slots, most, keys, only_eligible, 1e-6) ||
                           chosen == smallest_of_the_best(blocks, slots, most, keys, only_eligible, -1e-6);
                };
                const Index by2 = fa2_splits(s, sms), by3 = fa3_splits(s, sms);
                CHECK((full2 ? by2 == 1 : either(by2, 2 * sms, most2, true)));
                CHECK((full3 || keys <= 4 ? by3 == 1 : either(by3, sms, most3, false)));
            }
}

TEST_CASE("FlashAttention-3 splits a full machine where a head's K and V exceed 50 MiB", "[splits]") {
    const Bytes mib = 1 << 20;
    CHECK(fa3_splits({1000, 300, 900, 120 * mib, false}, 108) == 3);
    CHECK(fa3_splits({1000, 300, 900, 50 * mib, false}, 108) == 1);
    CHECK(fa3_splits({1000, 300, 900, 120 * mib, true}, 108) == 1);
    CHECK(fa3_splits({1000, 215, 900, 120 * mib, false}, 108) == 1);
    CHECK(fa3_splits({300, 216, 90000, 100000 * mib, false}, 108) == 128);
}

TEST_CASE("heads that share K and V are packed into rows before they are counted", "[splits]") {
    const GpuSpec a100 = gpu_preset("A100"), h100 = gpu_preset("H100");
    using Rule = SplitRule;
    CHECK(split_setting(Rule::fa2, decode(1, 16, 2, 65536), a100) == SplitSetting{2, 1, 512, 65536 * 256 * 2, false});
    CHECK(splits_by(Rule::fa2, decode(1, 16, 2, 65536), a100) == 103);
    CHECK(splits_by(Rule::fa2, decode(1, 8, 8, 8192), a100) == 22);
    CHECK(split_setting(Rule::fa2, decode(3, 130, 1, 4096, 64), a100).blocks == 3 * 3);  // 130 rows in blocks of 64
    CHECK(split_setting(Rule::fa2, decode(1, 16, 2, 4096, 60), a100).blocks == 16);      // d is no multiple of 8
    Problem two = decode(1, 16, 2, 4096);
    two.seq_q = 2;
    CHECK(split_setting(Rule::fa2, two, a100).blocks == 16);
    CHECK(split_setting(Rule::fa3, two, h100).blocks == 2);
    CHECK(split_setting(Rule::fa3, two, h100).key_blocks == ceil_div(4096, 176));
    two.mask = Mask::causal();
    CHECK(split_setting(Rule::fa3, two, h100).key_blocks == 32);
    CHECK(split_setting(Rule::fa3, two, a100).key_blocks == 64);
    Problem causal = decode(1, 16, 2, 4096);
    causal.mask = Mask::causal();  // a single query sees all keys
    CHECK(split_setting(Rule::fa2, causal, a100) == split_setting(Rule::fa2, decode(1, 16, 2, 4096), a100));
}

TEST_CASE("parts of the keys are chosen by the rule, and only where there is such a knob", "[splits][mapping]") {
    const GpuSpec a100 = gpu_preset("A100");
    const Problem p = decode(1, 8, 8, 8192);
    const Algorithm &split = *find_algorithm("split_kv"), &flash = *find_algorithm("flash_v2");
    CHECK(choose_tiling(split, p, {}, a100) == Tiling{1, 128, 22});
    Wish by_fa3, best;
    by_fa3.splits = SplitRule::fa3;
    best.tiling.splits = 7, best.rule = TileRule::best;
    CHECK(choose_tiling(split, p, by_fa3, a100).splits == fa3_splits(split_setting(SplitRule::fa3, p, a100), 108));
    CHECK(choose_tiling(split, p, {.tiling = {0, 64, 7}}, a100) == Tiling{1, 64, 7});
    CHECK(choose_tiling(split, p, {.tiling = {1, 32, 0}}, a100) == Tiling{1, 32, 22});
    CHECK(choose_tiling(flash, p, {.tiling = {1, 32, 7}}, a100) == Tiling{1, 32, 0});
    CHECK(choose_tiling(split, p, best, a100).splits == 7);
    CHECK_THROWS_AS(validate(Tiling{1, 1, 1024}, decode(1, 1 << 20, 1, 1, 1 << 30)), BadValue);
}
