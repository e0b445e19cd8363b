// The lanes of flash_v3, played on one SM.
#include "lab/model/laned.hpp"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/roles.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/basis.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/placing.hpp"
#include "lab/model/timing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

double cycles_of(Tiling t, Index dim) {
    Problem p;
    p.seq_q = p.seq_k = 4096;
    p.dim = p.dim_v = dim;
    const Algorithm& a = *find_algorithm("flash_v3");
    const GpuSpec gpu = gpu_preset("H100");
    t.like = 1;  // fa3-2024: P stays in registers
    const Experiment e{&a, p, completed(t, a, p, gpu), gpu};
    return played_lanes(e, 8).play.end;
}

}  // namespace

TEST_CASE("softmax runs under products where the program asks for these first", "[laned]") {
    // One warpgroup at d = 64, and two at d = 128, so that no step waits for the bus.
    for (const auto& [groups, dim] : {std::pair<Index, Index>{1, 64}, {2, 128}}) {
        Tiling t{64 * groups, 128};
        t.warpgroups = groups, t.turns = off, t.overlap = on;
        const double overlapped = cycles_of(t, dim);
        t.overlap = off;
        const double serial = cycles_of(t, dim);
        CAPTURE(dim, overlapped, serial);
        // A good part of each step's P V, but the last one, is hidden.
        CHECK(serial - overlapped > 7 * 0.3 * static_cast<double>(2 * t.br * t.bc * dim) / 4096);
    }
}

namespace {

/// The law of a row tile of flash_v3 where `sharing` thread blocks ask for the same keys.
std::vector<double> law_on(const GpuSpec& gpu, Index sharing) {
    Problem p;
    p.seq_q = p.seq_k = 4096;
    p.dim = p.dim_v = 128;
    const Algorithm& a = *find_algorithm("flash_v3");
    const Experiment e{&a, p, completed({}, a, p, gpu), gpu};
    const TileLaw law = laned_times(e, 1, {.sharing = sharing}).laws.front();
    return {law.fixed, law.step, law.first};
}

}  // namespace

TEST_CASE("each number of lanes that a calibration measures is in their times", "[laned]") {
    struct Changed {
        const char* key;
        std::optional<double> GpuSpec::*number;
        double factor;
        Index sharing;
    };
    constexpr Index alone = 1, four = 4, eight = 8;
    const GpuSpec preset = gpu_preset("H200");
    GpuSpec unmeasured = preset;
    for (const auto& [key, number, factor, sharing] : {
             Changed{"wgmma_flops_per_clk", &GpuSpec::wgmma_flops_per_clk, 0.5, eight},
             Changed{"wgmma_notice_clk", &GpuSpec::wgmma_notice_clk, 20, eight},
             Changed{"beside_wgmma", &GpuSpec::beside_wgmma, 2, eight},
             Changed{"full_rate_beside_wgmma", &GpuSpec::full_rate_beside_wgmma, 20, eight},
             Changed{"full_rate_steals", &GpuSpec::full_rate_steals, 0, eight},
             Changed{"barrier_clk", &GpuSpec::barrier_clk, 20, eight},
             Changed{"mbarrier_clk", &GpuSpec::mbarrier_clk, 50, eight},
             Changed{"row_shuffles_clk", &GpuSpec::row_shuffles_clk, 20, eight},
             Changed{"bulk_latency_clk", &GpuSpec::bulk_latency_clk, 20, eight},
             Changed{"bulk_port_bytes_per_clk", &GpuSpec::bulk_port_bytes_per_clk, 0.05, eight},
             Changed{"bulk_bytes_per_clk", &GpuSpec::bulk_bytes_per_clk, 0.2, alone},
             Changed{"bulk_by_4_bytes_per_clk", &GpuSpec::bulk_by_4_bytes_per_clk, 0.1, four},
             Changed{"bulk_by_8_bytes_per_clk", &GpuSpec::bulk_by_8_bytes_per_clk, 0.1, eight},
         }) {
        CAPTURE(key);
        REQUIRE(preset.*number);
        GpuSpec other = preset;
        other.*number = factor * *(preset.*number);
        CHECK(law_on(other, sharing) != law_on(preset, sharing));
        unmeasured.*number = std::nullopt;
    }
    // The H200's are the model's own numbers.
    for (const Index sharing : {alone, four, eight}) CHECK(law_on(unmeasured, sharing) == law_on(preset, sharing));
}

TEST_CASE("a tile of few steps takes what is played, and one of many what its law says", "[laned]") {
    Problem p;
    p.seq_q = p.seq_k = 4096, p.dim = p.dim_v = 128;
    const Algorithm& a = *find_algorithm("flash_v3");
    const GpuSpec gpu = gpu_preset("H100");
    const Experiment e{&a, p, completed({}, a, p, gpu), gpu};
    const LanedTimes times = laned_times(e, 1);
    const TileLaw& law = times.laws.front();
    const auto played = [&](Index steps) {
        double before = 0, last = 0;
        for (const LaneEnd& end : played_lanes(e, steps, tiles_of_law).play.ends) {
            if (end.tile == 2) before = end.at;
            last = end.at;
        }
        return (last - before) / 2;
    };
    for (const Index steps : {1, 2, 7}) {
        const auto n = static_cast<double>(steps);
        CAPTURE(steps, law.tile(n));
        CHECK(std::abs(times.fixed(n) + n * law.step - played(steps)) < 1e-6);
    }
    for (const double n : {8, 100}) CHECK(std::abs(times.fixed(n) - law.fixed) < 1e-6);
}

TEST_CASE("a launch takes the same time whether its thread blocks are played one by one or together", "[laned]") {
    Problem p;
    p.heads = p.kv_heads = 24, p.mask = Mask::causal();
    const Algorithm& a = *find_algorithm("flash_v3");
    const GpuSpec gpu = gpu_preset("H100");
    for (const Index like : {0, 1, 3, 7})  // longest first, rows, the cuDNN kernel's tiles, dealt
        for (const Index seq : {128, 1000, 2176, 4096, 16384}) {
            CAPTURE(like, seq);
            p.seq_q = p.seq_k = seq;
            Tiling t{128, 128};
            t.like = like;
            const Experiment e{&a, p, completed(t, a, p, gpu), gpu};
            std::vector<PlayedLaunch> played;
            const LaunchTime one = time_of(e, {.played = &played, .l2 = false}).launches[0];
            const LaunchTime all = time_of(e, {.l2 = false}).launches[0];
            REQUIRE(played[0].timeline.stays.size() == static_cast<std::size_t>(one.blocks));
            CHECK(all.us == one.us);
            CHECK_THAT(all.resident, Catch::Matchers::WithinRel(one.resident, 1e-11));
            CHECK_THAT(all.imbalance, Catch::Matchers::WithinRel(one.imbalance, 1e-11));
            CHECK_THAT(all.tail, Catch::Matchers::WithinAbs(one.tail, 1e-9));
        }
}

TEST_CASE("persistent thread blocks are as many as SMs hold, and share the row blocks", "[laned]") {
    const auto launch = [](Index persistent, Index heads) {
        Problem p;
        p.heads = p.kv_heads = heads, p.seq_q = p.seq_k = 4096, p.dim = p.dim_v = 128;
        const Algorithm& a = *find_algorithm("flash_v3");
        const GpuSpec gpu = gpu_preset("H200");
        Tiling t{128, 128};
        t.persistent = persistent;
        return time_of({&a, p, completed(t, a, p, gpu), gpu}).launches[0];
    };
    for (const Index persistent : {dealt, dealt_in_pairs, by_counter}) {
        CHECK(launch(persistent, 16).persistent == 132);
        CHECK(started(launch(persistent, 16)) == 132);
        CHECK(launch(persistent, 16).blocks == 512);
        CHECK(launch(persistent, 2).persistent == 64);
    }
    CHECK(launch(a_block_each, 16).persistent == 0);
    CHECK(started(launch(a_block_each, 16)) == 512);
}

TEST_CASE("a thread block for each row block: those of flash_v3's kernel start with a head's last one", "[laned]") {
    const auto order = [](const Tiling& t, const Mask& mask) {
        Problem p;
        p.heads = p.kv_heads = 16, p.seq_q = p.seq_k = 4096, p.dim = p.dim_v = 128, p.mask = mask;
        const Algorithm& a = *find_algorithm("flash_v3");
        const GpuSpec gpu = gpu_preset("H200");
        return order_of({&a, p, completed(t, a, p, gpu), gpu});
    };
    Tiling t{128, 128};
    CHECK(order(t, Mask::causal()) == Order::longest_in_l2);
    t.persistent = dealt;
    CHECK(order(t, Mask::causal()) == Order::longest_in_l2);
    t.persistent = a_block_each;
    CHECK(order(t, Mask::causal()) == Order::kernel);
    t.like = 3;  // cuDNN's kernel has an order of its own
    CHECK(order(t, Mask::causal()) == Order::rows);
}

TEST_CASE("a time rests on the kernel with these tiles and roles, or says which other roles were measured", "[laned]") {
    const auto told = [](const char* gpu, Tiling t, Index dim, Mask mask = {}) {
        Problem p;
        p.heads = p.kv_heads = 16, p.seq_q = p.seq_k = 4096, p.dim = p.dim_v = dim, p.mask = mask;
        const Algorithm& a = *find_algorithm("flash_v3");
        const GpuSpec spec = gpu_preset(gpu);
        const Experiment e{&a, p, completed(t, a, p, spec), spec};
        const RunTime time = time_of(e);
        return std::pair(time.basis, basis(time, e));
    };
    Tiling t{128, 128};
    t.slots = 4, t.turns = t.overlap = t.specialised = on, t.cluster = 1, t.persistent = dealt_in_pairs;
    CHECK(told("H200", t, 128, Mask::causal()).first == Basis::own_style);
    t.persistent = dealt;  // without a mask there is nothing to pair
    CHECK(told("H200", t, 128).first == Basis::own_style);
    const auto causal = told("H200", t, 128, Mask::causal());
    CHECK(causal.first == Basis::other_style);
    CHECK(contains(causal.second, "was measured with --persistent paired:"));
    t.turns = off, t.overlap = off;
    CHECK(told("H200", t, 128).first == Basis::own_style);
    t.slots = 6;  // no kernel has this besides: the first one is told of
    CHECK(contains(told("H200", t, 128).second, "was measured with --slots 4, --turns on and --overlap on:"));
    CHECK(contains(told("H200", {64, 128}, 128).second, "this kernel was not"));
    CHECK(told("B200", {128, 128}, 128).first == Basis::assumed);
}

TEST_CASE("row blocks are dealt out in pairs where the causal mask makes some shorter, and nowhere else", "[laned]") {
    const auto us_of = [](Index persistent, const Mask& mask, Index seq, Order order = Order::kernel) {
        Problem p;
        p.heads = p.kv_heads = 16, p.seq_q = p.seq_k = seq, p.mask = mask;
        p.dim = p.dim_v = 128;
        const Algorithm& a = *find_algorithm("flash_v3");
        const GpuSpec gpu = gpu_preset("H200");
        Tiling t{128, 128};
        t.slots = 4, t.persistent = persistent;
        return time_of({&a, p, completed(t, a, p, gpu), gpu, {order, 0}}).us();
    };
    CHECK(us_of(dealt_in_pairs, Mask::causal(), 16384) < 0.92 * us_of(dealt, Mask::causal(), 16384));
    for (const Mask& mask : {Mask(), Mask::window(512, 512)})
        CHECK(us_of(dealt_in_pairs, mask, 4096) == us_of(dealt, mask, 4096));
    // Another order than the kernel's own goes by single row blocks.
    CHECK(us_of(dealt_in_pairs, Mask::causal(), 4096, Order::snake) ==
          us_of(dealt, Mask::causal(), 4096, Order::snake));
}

TEST_CASE("no scales make a kernel faster than one scale a head, or than its tensor cores", "[laned][eight_bits]") {
    const Algorithm& a = *find_algorithm("flash_v3");
    const auto time = [&](const char* scales, Tiling t, bool causal) {
        Problem p;
        p.heads = p.kv_heads = 16, p.seq_q = p.seq_k = 4096, p.dim = p.dim_v = 128, p.dtype = Dtype::e4m3;
        if (causal) p.mask = Mask::causal();
        REQUIRE(set_scales(p, scales));
        const GpuSpec gpu = gpu_preset("H200");
        return time_of({&a, p, completed(t, a, p, gpu), gpu}).us();
    };
    const double products = 4.0 * 16 * 4096 * 4096 * 128;
    // Rows that share a scale divide the key tile, are divided by it, and neither.
    for (const Tiling& t : {Tiling{}, Tiling{128, 128}, Tiling{128, 192}})
        for (const bool causal : {false, true}) {
            const double plain = time("head", t, causal);
            for (const char* scales : {"token", "32", "100", "128", "448", "4096"}) {
                CAPTURE(t.bc, causal, scales, plain);
                const double us = time(scales, t, causal);
                CHECK(us > 0.98 * plain);
                CHECK(us < 2 * plain);  // where neither divides the other, the longest row blocks do not start first
                CHECK((causal ? 0.5 : 1) * products / us * 1e6 < 2.0e15);
            }
        }
}
