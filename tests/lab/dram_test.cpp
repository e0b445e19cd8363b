// The L2 of a launch that is too long to be played whole, compared with playing all of it.
#include "lab/model/dram.hpp"

#include <cmath>
#include <random>

#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

struct Case {
    const char* algorithm;
    Index heads, kv_heads, seq;
    bool causal = false;
};

/// DRAM traffic of the first launch, with at most `most_visits` tile visits played.
std::optional<DramTraffic> traffic(const Case& c, double most_visits, const GpuSpec& gpu = gpu_preset("H100"),
                                   Order order = Order::kernel) {
    Problem p;
    p.heads = c.heads, p.kv_heads = c.kv_heads, p.seq_q = p.seq_k = c.seq;
    if (c.causal) p.mask = Mask::causal();
    const Experiment e{find_algorithm(c.algorithm), p, {64, 64}, gpu, {order}};
    Outline outline;
    Listener* const listeners[] = {&outline};
    const Report r = count(e, nullptr, listeners);
    DramModel model(r, outline, most_visits);
    const auto blocks = static_cast<std::size_t>(r.launches[0].thread_blocks / c.heads);
    std::vector<BlockCycles> kinds(blocks);
    for (std::size_t k = 0; k < blocks; ++k) {
        const double cycles = c.causal ? static_cast<double>(k + 1) * 1000 : 64000;
        kinds[k] = {cycles, 1.4 * cycles};
    }
    const auto found = model.of(
        0, [&] { return kinds; }, 2, Refill::packed);
    CHECK(found.has_value() == model.why_not().empty());
    return found ? std::optional(found->first) : std::nullopt;
}

}  // namespace

TEST_CASE("what some heads and each further one bring to DRAM is what all of them do", "[long][dram]") {
    for (const Case& c :
         {Case{"flash_v2", 384, 384, 4096}, Case{"flash_v2", 384, 96, 4096}, Case{"flash_v2", 512, 512, 4096, true},
          Case{"two_pass", 800, 800, 2048}, Case{"memory_efficient", 300, 300, 4096},
          Case{"softmax_online", 1000, 1000, 2048}, Case{"standard", 800, 800, 2048}}) {
        INFO(c.algorithm << ", " << c.heads << " heads, " << c.kv_heads << " of K and V, causal " << c.causal);
        const auto exact = traffic(c, 1e9),
                   folded = traffic(c, c.algorithm == std::string_view("standard") ? 4e6 : 1.5e6);
        REQUIRE(exact);
        REQUIRE(folded);
        CHECK_THAT(static_cast<double>(folded->read),
                   Catch::Matchers::WithinRel(static_cast<double>(exact->read), 0.01));
        // Dirty bytes at the end are never written back, so writes vary by a part of the L2.
        CHECK_THAT(static_cast<double>(folded->written),
                   Catch::Matchers::WithinAbs(static_cast<double>(exact->written),
                                              0.01 * static_cast<double>(exact->read + exact->written)));
    }
}

TEST_CASE("what reaches DRAM is within 1% of playing all, read and written, or nothing is said", "[dram]") {
    std::mt19937 random(13);
    const auto one_of = [&](auto... values) {
        const std::common_type_t<decltype(values)...> all[] = {values...};
        return all[random() % sizeof...(values)];
    };
    int said = 0, played = 0;
    for (int n = 0; n < 150; ++n) {
        Case c{one_of("flash_v2", "flash_v1", "two_pass", "memory_efficient", "standard", "flash_v2_backward"), 0, 0,
               one_of(256, 512, 1000, 1024), random() % 3 == 0};
        c.kv_heads = one_of(1, 2, 8, 16, 32, 64), c.heads = c.kv_heads * one_of(1, 2, 4);
        GpuSpec gpu = gpu_preset("H100");
        gpu.l2_bytes = one_of(2, 4, 6, 12, 25, 50) << 20, gpu.sms = one_of(8, 30, 132);
        const Order order = one_of(Order::kernel, Order::rows, Order::snake, Order::heads, Order::longest);
        const double visits = 2.0 * static_cast<double>(c.heads) * std::pow(static_cast<double>(c.seq) / 64, 2);
        const auto found = traffic(c, visits / one_of(2, 3, 5, 8), gpu, order);
        ++played;
        if (!found) continue;
        ++said;
        const auto exact = traffic(c, 1e9, gpu, order);
        REQUIRE(exact);
        INFO(c.algorithm << ", " << c.heads << " heads, " << c.kv_heads << " of K and V, " << c.seq << " keys, causal "
                         << c.causal << ", order " << name_of(order) << ", L2 " << gpu.l2_bytes << ", " << gpu.sms);
        for (const auto bytes : {&DramTraffic::read, &DramTraffic::written})
            CHECK_THAT(static_cast<double>((*found).*bytes),
                       Catch::Matchers::WithinRel(static_cast<double>((*exact).*bytes), 0.01));
    }
    CHECK(6 * said >= played);  // orders `heads` and `longest` do not go head by head: no number
}

TEST_CASE("one head more does not end what is written", "[dram]") {
    // 16 x 16 tiles of d = 128: 31 heads can be played; 32 heads exceed the limit of visits.
    const auto written = [](Index heads) {
        Problem p;
        p.heads = p.kv_heads = heads, p.seq_q = p.seq_k = 4096, p.dim = p.dim_v = 128;
        return time_of({find_algorithm("flash_v2"), p, {16, 16}, gpu_preset("H100"), {}});
    };
    const RunTime played = written(31), more = written(32);
    REQUIRE(played.dram());
    if (more.dram()) CHECK(more.dram()->written > played.dram()->written);
    CHECK((more.dram() || !more.no_dram.empty()));
}

TEST_CASE("grouped heads of which four groups may be played have a number, as others do", "[dram][numbers]") {
    for (const Index kv_heads : {32, 16, 8, 1}) {
        Problem p;
        p.heads = 32, p.kv_heads = kv_heads, p.seq_q = p.seq_k = 131072, p.dim = p.dim_v = 128;
        p.mask = Mask::window(4095, 0);
        const RunTime t = time_of({find_algorithm("flash_v2"), p, {128, 64}, gpu_preset("H100"), {}});
        INFO(kv_heads << ": " << t.no_dram);
        CHECK(t.dram());
    }
}

TEST_CASE("heads of one thread block pass through the L2, each tile once, but for what stays dirty",
          "[dram][numbers]") {
    for (const int partitions : {1, 2})
        for (const char* name : {"flash_v2", "flash_v1", "three_pass", "chunked"}) {
            GpuSpec gpu = gpu_preset("H100");
            gpu.l2_partitions = partitions, gpu.l2_bytes = 40 << 20;
            const Case c{name, 40'000, 40'000, 64};
            const auto exact = traffic(c, 1e9, gpu), passed = traffic(c, 1e5, gpu);
            INFO(name << ", " << partitions << " partitions");
            REQUIRE(exact);
            REQUIRE(passed);
            // With two copies, a summary of each key block leaves no room to pass through, so the traffic is
            // extrapolated.
            const bool passes = partitions == 1 || name != std::string_view("chunked");
            CHECK_THAT(static_cast<double>(passed->read),
                       Catch::Matchers::WithinRel(static_cast<double>(exact->read), passes ? 0 : 0.01));
            CHECK_THAT(static_cast<double>(passed->written),
                       Catch::Matchers::WithinRel(static_cast<double>(exact->written), 0.005));
        }
    const auto no_room = traffic({"flash_v2", 4000, 4000, 64}, 1e3, [] {
        GpuSpec gpu = gpu_preset("H100");
        gpu.l2_bytes = 8 << 20;
        return gpu;
    }());
    CHECK_FALSE(no_room);  // the order would matter, and the launch is too long to be played
}

TEST_CASE("where a head alone is too much, or SMs would stay idle, nothing is said", "[dram]") {
    CHECK_FALSE(traffic({"flash_v2", 2, 2, 8192}, 1e4));
    CHECK_FALSE(traffic({"flash_v1", 64, 64, 8192}, 4e5));
}

TEST_CASE("chiplets know nothing of each other, so that heads first is the better order there, and not elsewhere",
          "[dram][numbers]") {
    GpuSpec gpu = gpu_preset("H100");
    gpu.sms = 128, gpu.l2_partitions = 1;
    const Case c{"flash_v2", 8, 8, 8192};
    const auto read = [&](Index chiplets, Bytes l2_bytes, Order order) {
        gpu.l2_chiplets = static_cast<double>(chiplets), gpu.l2_bytes = l2_bytes;
        const auto t = traffic(c, 1e9, gpu, order);
        REQUIRE(t);
        return t->read;
    };
    constexpr Bytes unlimited = Bytes{1} << 40, scarce = 12 << 20;
    const Bytes kv = 2 * 8192 * 64 * 2 * 8, q = kv / 2;  // bytes of each, read once
    for (const Order order : {Order::kernel, Order::heads}) CHECK(read(1, unlimited, order) == q + kv);
    CHECK(read(8, unlimited, Order::kernel) == q + 8 * kv);  // every chiplet has row blocks of every head
    CHECK(read(8, unlimited, Order::heads) == q + kv);       // every chiplet has the row blocks of one head
    CHECK(read(8, scarce, Order::heads) < read(8, scarce, Order::kernel));
    CHECK(read(1, scarce, Order::heads) >= read(1, scarce, Order::kernel));
}
