#include "core/time/timeline.hpp"

#include <cmath>
#include <random>

#include "core/time/cache.hpp"
#include "core/time/dispatch.hpp"
#include "core/time/lone_blocks.hpp"
#include "core/time/residency.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;

namespace {

Grid alike(Count blocks, BlockCycles cycles) { return {{std::move(cycles)}, {0}, blocks}; }
bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

}  // namespace

// FlashAttention-2's introduction: one thread block per head leaves SMs idle.
TEST_CASE("128 thread blocks on 108 SMs take two waves, and fill 59% of them", "[timeline]") {
    const Timeline t = play(alike(128, {1000}), 108, 1, Refill::spread);
    CHECK(near(t.cycles, 2000));
    CHECK(near(t.resident, 128.0 / 216));
    CHECK(near(t.last_start, 1000));
}

TEST_CASE("thread blocks on one SM slow each other down", "[timeline]") {
    // Two together take 1.5 times as long; the third is alone at the end.
    const Timeline t = play(alike(3, {1000, 1500}), 1, 2, Refill::packed);
    CHECK(near(t.cycles, 2500));
    CHECK(t.stays.size() == 3);
    // A block that is left alone goes on faster: after 1,500 cycles half of it is left, which takes 1,000, not 1,500.
    const Grid uneven{{{1000, 1500}, {2000, 3000}}, {0, 1}, 1};
    CHECK(near(play(uneven, 1, 2, Refill::packed).cycles, 1500 + 1000));
}

TEST_CASE("every thread block stays once, and no SM holds more than it may", "[timeline]") {
    const Grid grid{{{100, 150, 220}, {300, 450, 700}, {10, 12, 13}}, {0, 1, 2, 1}, 50};
    for (const Refill refill : {Refill::packed, Refill::spread})
        for (const double uneven : {0.0, 0.05}) {
            const Timeline t = play(grid, 7, 3, refill, uneven);
            REQUIRE(t.stays.size() == 200);
            double busy = 0;
            for (std::size_t k = 0; k < t.stays.size(); ++k) {
                const Stay& s = t.stays[k];
                CHECK(s.from < s.to);
                CHECK(s.to <= t.cycles * (1 + 1e-9));
                if (k > 0) CHECK(t.stays[k - 1].from <= s.from);
                int beside = 0;
                for (const Stay& o : t.stays) beside += o.sm == s.sm && o.from <= s.from && s.from < o.to * (1 - 1e-12);
                CHECK(beside <= 3);
                busy += s.to - s.from;
            }
            CHECK(near(t.resident, busy / t.cycles / 7));
        }
}

// The order of times must not depend on a compiler's rounding, because caches are played in that order.
TEST_CASE("what ends at once but for rounding leaves its SMs at the same time", "[timeline]") {
    REQUIRE(0.1 + 0.1 + 0.1 != 0.3);
    const Grid grid{{{0.3}, {0.1}}, {0, 1, 1, 1}, 2};
    for (const Refill refill : {Refill::packed, Refill::spread}) {
        const Timeline t = play(grid, 2, 1, refill);
        CHECK(t.stays[0].to == t.stays[3].to);
        CHECK(t.stays[4].from == t.stays[5].from);
        CHECK(t.stays[4].sm != t.stays[5].sm);
    }
}

TEST_CASE("more thread blocks never take less time where all are alike", "[timeline]") {
    double before = 0;
    for (Count blocks = 1; blocks < 200; ++blocks) {
        const double now = play(alike(blocks, {100, 140, 200}), 13, 3, Refill::spread).cycles;
        CHECK(now >= before * (1 - 1e-9));
        before = now;
    }
}

TEST_CASE("alike blocks take wave by wave what they take one by one", "[timeline]") {
    for (const Refill refill : {Refill::packed, Refill::spread})
        for (const Index sms : {1, 7, 132})
            for (const Index slots : {1, 2, 5})
                for (const Count blocks : {1, 6, 7, 8, 13, 14, 132, 133, 264, 265, 1000, 1321}) {
                    BlockCycles cycles;
                    for (Index r = 1; r <= slots; ++r) cycles.push_back(100 + 40.0 * static_cast<double>(r - 1));
                    const Among fewer = [&](std::uint32_t, Count at_work) {
                        BlockCycles faster = cycles;
                        for (double& c : faster)
                            c *= 0.5 + 0.5 * static_cast<double>(at_work) / static_cast<double>(sms * slots);
                        return faster;
                    };
                    const Grid grid{{cycles}, {0}, blocks, fewer};
                    const Timeline one = play(grid, sms, slots, refill),
                                   all = play_alike(cycles, blocks, sms, slots, refill, fewer);
                    INFO(blocks << " blocks on " << sms << " SMs of " << slots);
                    for (const auto member :
                         {&Timeline::cycles, &Timeline::resident, &Timeline::last_start, &Timeline::after_start})
                        CHECK_THAT(all.*member, Catch::Matchers::WithinRel(one.*member, 1e-6) ||
                                                    Catch::Matchers::WithinAbs(one.*member, 1e-6));
                }
}

namespace {

/// A grid of kinds that are as far apart as row blocks of a causal mask, or at random, each in spells of its own.
Grid random_grid(std::mt19937& random) {
    const auto up_to = [&](std::uint32_t n) { return 1 + static_cast<std::uint32_t>(random() % n); };
    Grid grid;
    const bool graded = random() % 2 == 0;
    const std::uint32_t kinds = up_to(40);
    for (std::uint32_t k = 1; k <= kinds; ++k) {
        const double alone = graded ? 1813.7 + 1382.41 * k : 0.01 * up_to(1'000'000);
        grid.kinds.push_back({alone, 1.4 * alone});
    }
    if (random() % 2 == 0)
        for (std::uint32_t k = kinds; k > 0; --k) grid.sequence.push_back(k - 1);
    else
        for (std::uint32_t n = up_to(200); n > 0; --n) grid.sequence.push_back(up_to(kinds) - 1);
    grid.each = random() % 2 == 0 ? 1 : up_to(16), grid.times = up_to(30);
    return grid;
}

}  // namespace

TEST_CASE("thread blocks that have an SM each take together what they take one by one", "[timeline]") {
    std::mt19937 random(18);
    for (int n = 0; n < 300; ++n) {
        const Grid grid = random_grid(random);
        for (const Index sms : {1, 2, 7, 132}) {
            CAPTURE(n, sms);
            const Timeline one = play(grid, sms, 1, Refill::packed), all = play_lone(grid, sms);
            REQUIRE(std::ssize(one.stays) == grid.blocks());
            CHECK(all.stays.empty());
            CHECK(all.cycles == one.cycles);
            CHECK(all.last_start == one.last_start);
            CHECK(all.shared.front().at_work == one.shared.front().at_work);
            CHECK_THAT(all.resident, Catch::Matchers::WithinRel(one.resident, 1e-11));
            CHECK_THAT(all.after_start, Catch::Matchers::WithinRel(one.after_start, 1e-9) ||
                                            Catch::Matchers::WithinAbs(one.after_start, 1e-3));
        }
    }
}

TEST_CASE("a timeline without stays is the same but for them", "[timeline]") {
    std::mt19937 random(19);
    for (int n = 0; n < 50; ++n) {
        const Grid grid = random_grid(random);
        for (const Index slots : {1, 2}) {
            const Timeline with = deal(grid, 7, slots), without = deal(grid, 7, slots, Keep::totals);
            CHECK(std::ssize(with.stays) == grid.blocks());
            CHECK(without.stays.empty());
            for (const auto member :
                 {&Timeline::cycles, &Timeline::resident, &Timeline::last_start, &Timeline::after_start})
                CHECK(without.*member == with.*member);
        }
        CHECK(play(grid, 7, 1, Refill::packed, 0, Keep::totals).cycles == play(grid, 7, 1, Refill::packed).cycles);
    }
}

TEST_CASE("thread blocks without their heads are in the same order", "[timeline]") {
    const Tiles rows(5, 1, "i"), keys(2, 1, "j");
    for (const Index heads : {1, 2, 7, 8, 12})
        for (const std::vector<Axis>& axes :
             {std::vector<Axis>{uniform(heads, "head"), graded(rows, Seen(rows).and_before_end(0))},
              {uniform(heads, "head"), uniform(rows), uniform(keys)},
              {uniform(heads, "head")}})
            for (const Order order : orders)
                for (const Index in_l2 : {1, 4}) {
                    CAPTURE(heads, axes.size(), name_of(order), in_l2);
                    const auto [blocks, each, times] = dispatched(axes, order, in_l2);
                    const std::vector<BlockOfHead> all = dispatch(axes, order, in_l2);
                    const auto n = static_cast<Index>(blocks.size());
                    REQUIRE(each * times * n == std::ssize(all));
                    for (Index k = 0; k < std::ssize(all); ++k)
                        REQUIRE(blocks[static_cast<std::size_t>(k / each % n)] ==
                                all[static_cast<std::size_t>(k)].block);
                }
}

TEST_CASE("what ended thread blocks have shared is for those that are left", "[timeline]") {
    // Eight blocks of 1 to 8 steps, one on each SM, wait for a shared resource. The fewer blocks, the
    // less time a step takes, down to half.
    Grid grid;
    for (int k = 1; k <= 8; ++k)
        grid.kinds.push_back({100.0 * k}), grid.sequence.push_back(static_cast<std::uint32_t>(k - 1));
    CHECK(play(grid, 8, 1, Refill::packed).cycles == 800);
    grid.among = [](std::uint32_t kind, Count at_work) {
        return BlockCycles{100.0 * (kind + 1) * std::max(0.5, static_cast<double>(at_work) / 8)};
    };
    CHECK(play(grid, 8, 1, Refill::packed).cycles == 800);
    grid.again = true;
    const Timeline t = play(grid, 8, 1, Refill::packed);
    CHECK(near(t.cycles, 100 * (1 + 7.0 / 8 + 6.0 / 8 + 5.0 / 8 + 4 * 0.5)));
    REQUIRE(t.shared.size() == 8);
    CHECK(t.shared[0].at_work == 8);
    CHECK(t.shared[1].at_work == 7);
    CHECK(near(t.shared[1].from, 100));
    // While some blocks have not started, nobody gets a larger share.
    grid.times = 2;
    const Timeline twice = play(grid, 8, 1, Refill::packed);
    REQUIRE(twice.shared.size() > 1);
    CHECK(twice.shared[1].from >= twice.last_start);
}

TEST_CASE("a long run of blocks of all lengths ends", "[timeline]") {
    Grid grid;
    for (int k = 156250; k > 0; --k) {
        grid.sequence.push_back(static_cast<std::uint32_t>(grid.kinds.size()));
        grid.kinds.push_back({1500.0 + 500.0 * k, 1500.0 + 800.0 * k});
    }
    const Timeline t = play(grid, 132, 2, Refill::packed);
    double work = 0;
    for (const BlockCycles& k : grid.kinds) work += k[1] / 2 / 132;
    CHECK_THAT(t.cycles, Catch::Matchers::WithinRel(work, 0.01));
}

TEST_CASE("rows start fastest and backwards where they are graded, key tiles slowest", "[timeline]") {
    const Tiles rows(3, 1, "i"), keys(2, 1, "j");
    const Axis graded_rows = graded(rows, Seen(keys).and_before_end(0));
    const std::vector<Axis> flash{uniform(Index{2}, "head"), graded_rows};
    std::vector<std::pair<int, int>> order;
    for (const BlockOfHead& b : dispatch(flash)) order.emplace_back(b.head, b.block);
    CHECK(order == std::vector<std::pair<int, int>>{{0, 2}, {0, 1}, {0, 0}, {1, 2}, {1, 1}, {1, 0}});
    const std::vector<Axis> scores{uniform(Index{2}, "head"), uniform(rows), uniform(keys)};
    order.clear();
    for (const BlockOfHead& b : dispatch(scores)) order.emplace_back(b.head, b.block);
    CHECK(order == std::vector<std::pair<int, int>>{
                       {0, 0}, {0, 2}, {0, 4}, {1, 0}, {1, 2}, {1, 4}, {0, 1}, {0, 3}, {0, 5}, {1, 1}, {1, 3}, {1, 5}});
}

TEST_CASE("a cache keeps what was used last", "[cache]") {
    Cache one(300, 1, 4);
    for (const std::uint32_t tile : {0u, 1u, 2u, 0u}) one.read(0, tile, 100);
    CHECK(one.dram().read == 300);
    one.read(0, 3, 100);  // tile 1 is evicted
    one.read(0, 0, 100);
    CHECK(one.dram().read == 400);
    one.read(0, 1, 100);
    CHECK(one.dram().read == 500);
}

TEST_CASE("of many tiles older ones leave, the same in every run", "[cache]") {
    const auto has_left = [](std::uint32_t tile) {
        Cache cache(100 * 64, 1, 65);
        for (std::uint32_t k = 0; k < 65; ++k) cache.read(0, k, 100);  // two halves of tiles are evicted
        const Bytes before = cache.dram().read;
        cache.read(0, tile, 100);
        return cache.dram().read > before;
    };
    std::vector<std::uint32_t> left;
    for (std::uint32_t tile = 0; tile < 65; ++tile)
        if (has_left(tile)) left.push_back(tile);
    REQUIRE(!left.empty());
    CHECK(left.size() <= 2);
    CHECK(left.back() < 20);
}

TEST_CASE("going round in a little more than fits misses some of it, not all", "[cache]") {
    Cache cache(100 * 60, 1, 64);
    Bytes before = 0;
    for (int round = 0; round < 20; ++round) {
        before = cache.dram().read;
        for (std::uint32_t tile = 0; tile < 64; ++tile) cache.read(0, tile, 100);
    }
    const Bytes missed = (cache.dram().read - before) / 100;
    CHECK(missed >= 4);
    CHECK(missed < 48);
}

TEST_CASE("with two partitions what all read takes its size twice, and is fetched once", "[cache]") {
    Cache two(400, 2, 2);  // 200 B per partition
    two.read(0, 0, 100);
    CHECK(two.dram().read == 100);
    two.read(1, 0, 100);
    CHECK(two.dram().read == 100);
    two.read(0, 1, 100);
    two.read(1, 1, 100);
    CHECK(two.dram().read == 200);
    for (int k = 0; k < 5; ++k)
        for (const int partition : {0, 1})
            for (const std::uint32_t tile : {0u, 1u}) two.read(partition, tile, 100);
    CHECK(two.dram().read == 200);
    Cache small(300, 2, 2);  // 150 B per partition: no room for both tiles and their copies
    for (int k = 0; k < 5; ++k)
        for (const int partition : {0, 1})
            for (const std::uint32_t tile : {0u, 1u}) small.read(partition, tile, 100);
    CHECK(small.dram().read > 200);
}

TEST_CASE("what is written reaches DRAM when it leaves, once", "[cache]") {
    Cache cache(200, 1, 3);
    cache.write(0, 0, 100);
    cache.write(0, 0, 100);
    cache.write(0, 1, 100);
    CHECK(cache.dram().written == 0);
    cache.read(0, 2, 100);
    CHECK(cache.dram().written == 100);
    CHECK(cache.dram().read == 100);
}

TEST_CASE("an SM holds as many thread blocks as its scarcest resource allows", "[residency]") {
    const GpuSpec h200 = lab::gpu_preset("H200");
    const auto check = [&](BlockNeeds needs, Index blocks, ResidencyLimit limit) {
        const Residency r = residency(needs, h200);
        CHECK(r.blocks == blocks);
        CHECK(r.limit == limit);
    };
    check({65536, 4, 255}, 2, ResidencyLimit::registers);      // flash_v2 on tensor cores
    check({65536, 4, 128}, 3, ResidencyLimit::shared_memory);  // 65 KiB of 228
    check({0, 1, 108}, 16, ResidencyLimit::registers);         // 4 warps of 3,584 registers on each quarter of an SM
    check({0, 2, 16}, 32, ResidencyLimit::thread_blocks);
    check({0, 16, 32}, 4, ResidencyLimit::warps);
}
