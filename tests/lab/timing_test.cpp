// The time model compared with what must hold.
#include "lab/model/timing.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "core/text/numbers.hpp"
#include "lab/gpu/gpu_json.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/basis.hpp"
#include "lab/model/full_tiles.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/played_launch.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/model/verdict.hpp"
#include "lab/model/warm.hpp"
#include "tests/lab/timed.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;

TEST_CASE("an L2 without end leaves what has to be read once, one without room leaves all", "[timing]") {
    for (const char* name : {"flash_v1", "flash_v2", "memory_efficient", "two_pass", "standard", "softmax_online"})
        for (const bool causal : {false, true}) {
            Experiment e = experiment(name, 4, 1000, Dtype::f32, {64, 64});
            if (causal && e.algorithm->computes == &computation::attention) e.problem.mask = Mask::causal();
            INFO(name << (causal ? ", causal" : ""));
            const Report counted = count(e);
            e.gpu.l2_bytes = Bytes{1} << 40;
            const DramTraffic least = *time_of(e).dram();
            e.gpu.l2_bytes = 1;
            const DramTraffic most = *time_of(e).dram();
            CHECK(most.read == counted.counters.hbm_read);
            CHECK(most.written == counted.counters.hbm_write);
            CHECK(least.written == 0);
            // Every launch begins with an empty cache: what one launch leaves, the next reads again.
            Bytes compulsory = 0;
            for (const TensorReport& t : counted.tensors)
                if (t.role == Role::input || (t.role == Role::scratch && name == std::string("standard")))
                    compulsory += t.bytes;
            CHECK(least.read == compulsory);
            e.gpu.l2_bytes = 1 << 20;
            CHECK(time_of(e).dram()->read >= least.read);
            CHECK(time_of(e).dram()->read <= most.read);
        }
}

TEST_CASE("without a mask time never falls when a rate falls or heads are added", "[timing][numbers]") {
    for (const char* name : {"flash_v1", "flash_v2", "standard", "softmax_safe"}) {
        const Experiment e = experiment(name, 16, 2048, Dtype::f32, {64, 64});
        const double before = time_of(e).us();
        const auto slower = [&](auto&& change) {
            Experiment changed = e;
            change(changed.gpu);
            INFO(name);
            CHECK(time_of(changed).us() >= before * (1 - 1e-4));  // the L2's misses change slightly
        };
        slower([](GpuSpec& g) { *g.fma_per_clk /= 2; });
        slower([](GpuSpec& g) { g.exp_per_clk /= 2; });
        slower([](GpuSpec& g) { *g.sram_bytes_per_clk /= 2; });
        slower([](GpuSpec& g) { *g.copy_gbs /= 2; });
        slower([](GpuSpec& g) { *g.cuda_clock_mhz /= 2; });
        slower([](GpuSpec& g) { *g.l2_latency_clk *= 2; });
        slower([](GpuSpec& g) { *g.dram_latency_clk *= 2; });
        double last = 0;
        for (const Index heads : {1, 2, 3, 8, 16, 17, 64}) {
            Experiment more = e;
            more.problem.heads = more.problem.kv_heads = heads;
            const double now = time_of(more).us();
            INFO(name << " with " << heads << " heads");
            CHECK(now >= last * (1 - 1e-3));  // as above, misses change slightly
            last = now;
        }
    }
}

TEST_CASE("reads alone are faster than a copy, on tensor cores and where a copy was measured", "[timing]") {
    const auto rates = [](const GpuSpec& gpu, Style style) { return dram_of(rates_of(gpu), style); };
    GpuSpec h200 = gpu_preset("H200");
    const DramRates apart = rates(h200, Style::tensor_cores), copied = rates(h200, Style::cuda_cores);
    CHECK_THAT(apart.read, Catch::Matchers::WithinRel(0.95 * 4800, 1e-12));
    CHECK_THAT(2 / (1 / apart.read + 1 / apart.write), Catch::Matchers::WithinRel(3970.0, 1e-12));  // measured
    CHECK(copied.read == 3970);
    CHECK(copied.write == 3970);
    const DramRates unmeasured = rates(gpu_preset("A100"), Style::tensor_cores);
    CHECK_THAT(unmeasured.write, Catch::Matchers::WithinRel(unmeasured.read, 1e-12));
    h200.copy_gbs = 4700;  // more than 0.95 of the data sheet's bandwidth
    CHECK(rates(h200, Style::tensor_cores).read == 4700);

    // A few queries that read 2 GB: what comes on top of reading is the start of a launch.
    Experiment e = experiment("split_kv", 8, 4, Dtype::f16, {4, 64, 7});
    e.problem.batch = 4, e.problem.seq_k = 131072, e.problem.dim = e.problem.dim_v = 128;
    const double read_alone = 2147.5e6 / (0.95 * 4800e9) * 1e6;
    CHECK(time_of(e).us() > read_alone);
    CHECK(time_of(e).us() < 1.03 * read_alone);
}

TEST_CASE("short tiles of split_kv are as its kernel has them, and only on tensor cores", "[timing]") {
    Experiment e = experiment("split_kv", 16, 4096, Dtype::f16, {16, 64, 4});
    e.problem.dim = e.problem.dim_v = 128;
    Experiment taller = e;
    taller.tiling.br = 17;
    const auto first = [](const Experiment& of) { return time_of(of).launches.front(); };
    const LaunchTime tall = first(taller), of_16 = first(e);
    CHECK((of_16.residency.blocks == 2 && of_16.residency.limit == ResidencyLimit::shared_memory));
    CHECK(tall.residency.blocks > 2);
    CHECK(of_16.clock_mhz == 1950);  // as under a light load
    CHECK(tall.clock_mhz == 1800);
    // Each of four warps reads its quarter of K_j and V_j, and all of Q_i: 3 x 16 KiB instead of 2 x 64 KiB and Q_i.
    const auto sram = static_cast<std::size_t>(Unit::sram);
    CHECK_THAT(of_16.step.busy[sram] - 2 * 16384 / 128.0, Catch::Matchers::WithinRel(3 * 16384 / 128.0, 0.05));
    e.problem.dim = e.problem.dim_v = 64;
    CHECK(first(e).residency.blocks == 2);
    e.problem.dtype = Dtype::f32;
    CHECK(first(e).residency.blocks > 2);
}

TEST_CASE("a changed data sheet changes what was measured", "[timing]") {
    Experiment e = experiment("softmax_online", 32, 4096, Dtype::f32, {32, 64});
    const double before = time_of(e).us();
    e.gpu = parse_gpu(R"({"base": "H200", "name": "slow", "hbm_gbs": 480})", "slow");
    CHECK(e.gpu.copy_gbs == 397.0);
    CHECK(time_of(e).us() > 5 * before);
    e.gpu = parse_gpu(R"({"base": "H200", "name": "both", "hbm_gbs": 480, "copy_gbs": 400})", "both");
    CHECK(e.gpu.copy_gbs == 400.0);
}

TEST_CASE("idle SMs leave their share of L2 and DRAM to others", "[timing]") {
    Experiment e = experiment("flash_v2", 8, 8192);
    e.problem.seq_q = 1;
    const double before = time_of(e).us();
    e.gpu.sms = 16;
    CHECK(time_of(e).us() == before);
}

TEST_CASE("more SMs do not take longer, and it is said that they wait for the L2", "[timing]") {
    Experiment e = experiment("flash_v2", 32, 8192, Dtype::f16, {128, 64});
    e.problem.mask = Mask::causal(), e.problem.dim = e.problem.dim_v = 128, e.gpu = gpu_preset("H100");
    double least = time_of(e).us();
    for (const Index sms : {200, 300, 400, 528, 1000, 1056, 2048}) {
        e.gpu.sms = sms;
        const RunTime t = time_of(e);
        INFO(sms << " SMs: " << t.us() << " us, at least " << least);
        CHECK(t.us() <= 1.03 * least);
        // With 200 SMs the L2 is busy, but not the bound: more SMs still make the run faster.
        CHECK((t.longest().bound == Bound::l2) == (sms > 200));
        least = std::min(least, t.us());
    }
}

TEST_CASE("the verdict names what a launch waits for", "[timing]") {
    const auto bound = [](const Experiment& e) { return time_of(e).longest().bound; };
    CHECK(bound(experiment("flash_v2", 1, 64)) == Bound::launch);
    CHECK(bound(experiment("flash_v1", 8, 4096, Dtype::f32, {64, 64})) == Bound::blocks);
    CHECK(bound(experiment("flash_v2", 64, 4096)) == Bound::dependency);
    CHECK(bound(experiment("flash_v2", 64, 4096, Dtype::f32, {64, 64})) == Bound::sram);
    CHECK(bound(experiment("softmax_online", 64, 4096, Dtype::f32, {32, 64})) == Bound::dram);
    const Experiment e = experiment("flash_v2", 64, 4096);
    const RunTime t = time_of(e);
    CHECK(contains(verdict(t.longest(), t.style, e), "wait for each other"));
    CHECK(basis(t, e) ==
          "Modelled, for tensor cores: 4% off on average, 15% at worst, of the measured kernels of flash_v2.");
}

TEST_CASE("a smaller Br is advised where row blocks are thread blocks, and rows in parallel where they are not",
          "[timing]") {
    const auto said = [](const char* algorithm, Index heads) {
        const Experiment e = experiment(algorithm, heads, 2048, Dtype::f16, {64, 64});
        return verdict(time_of(e), e);
    };
    CHECK(contains(said("flash_v1", 8), "8 for 132 SMs"));
    CHECK(contains(said("flash_v1", 8), "More heads, rows in parallel (flash_v2) or keys in parallel"));
    CHECK_FALSE(contains(said("flash_v1", 8), "a smaller Br"));
    CHECK(contains(said("flash_v2", 2), "a smaller Br"));
    CHECK_FALSE(contains(said("flash_v2", 2), "rows in parallel"));
    CHECK_FALSE(contains(said("flash_v1_backward", 8), "in parallel (flash_v2)"));
    // As many thread blocks as SMs are not too few; but most of them have no keys.
    Experiment uneven = experiment("flash_v2_deterministic_backward", 2, 2048, Dtype::f16, {64, 128});
    uneven.tiling.splits = 66;
    const std::string words = verdict(time_of(uneven), uneven);
    CHECK(contains(words, "Thread blocks are uneven: the longest of 132 takes 4 times the mean"));
    CHECK_FALSE(contains(words, "Too few"));
}

TEST_CASE("a kernel with lanes that has too few thread blocks is told with how many heads its lanes can be seen",
          "[timing]") {
    const auto said = [](Index heads, Index kv_heads) {
        Experiment e = experiment("flash_v3", heads, 1024, Dtype::f16, {128, 128});
        e.problem.kv_heads = kv_heads;
        return verdict(time_of(e), e);
    };
    CHECK(contains(said(8, 8), "Too few thread blocks: 64 for 132 SMs"));
    CHECK(contains(said(8, 8), "--heads 128 keeps all SMs at work"));
    CHECK(contains(said(6, 2), "--heads 96 keeps all SMs at work"));
    for (const auto& [heads, kv_heads] : {std::pair<Index, Index>{128, 128}, {96, 2}}) {
        CHECK_FALSE(contains(said(heads, kv_heads), "Too few"));
        CHECK(contains(said(heads, kv_heads), "CUDA cores"));
    }
}

TEST_CASE("errors are stated of the machines that were measured, and of no other", "[timing]") {
    for (const std::string& name : gpu_preset_names()) {
        CAPTURE(name);
        Experiment e = experiment("flash_v2", 8, 1024);
        e.gpu = gpu_preset(name);
        if (name == "toy") e.tiling = {4, 4};
        CHECK((time_of(e).basis == Basis::own_style) == (name == "H100-SXM" || name == "H200"));
    }
    const auto on = [](const std::string& changes) {
        Experiment e = experiment("flash_v2", 8, 1024);
        e.gpu = parse_gpu(R"({"base": "H200", )" + changes + "}", "mine");
        return e;
    };
    CHECK(time_of(on(R"("name": "mine")")).basis == Basis::own_style);  // the same machine by another name
    // Each number is changed by a few per mille.
    for (const GpuNumber& n : gpu_numbers("H200")) {
        CAPTURE(n.key);
        if (n.key == "l2_partitions") continue;
        const Experiment e =
            on('"' + n.key + "\": " + std::to_string(std::ceil(text::to_number(n.value).value() * 1.002)));
        const RunTime t = time_of(e);
        CHECK(t.basis == Basis::assumed);
        CHECK(!t.error);
        CHECK(contains(basis(t, e), "no kernel was measured on H200 (changed): its times are assumed"));
    }
    Experiment fewer = experiment("flash_v2", 8, 1024);
    fewer.gpu.sms = 20;  // as --sms does, which keeps the name
    CHECK(contains(basis(time_of(fewer), fewer), "no kernel was measured on H200 with other numbers"));
}

TEST_CASE("a GPU file's peaks and clocks are the rates that times rest on", "[timing]") {
    const auto us = [](const std::string& gpu, Dtype dtype = Dtype::f16) {
        Experiment e = experiment("flash_v2", 32, 2048, dtype, {64, 64});
        e.problem.batch = 2, e.problem.dim = e.problem.dim_v = 64;
        if (dtype == Dtype::f16) e.tiling = {128, 128};
        e.gpu = load_gpu(gpu);
        return time_of(e).us();
    };
    // Measured by others: 840 us, 81.8 of 148 TFLOP/s.
    const double h20 = us(R"({"base": "H100-SXM", "name": "H20", "sms": 78, "hbm_gbs": 4000, "tensor_tflops": 148})");
    CHECK(h20 > 700);
    CHECK(h20 < 1000);
    CHECK(us(R"({"base": "A100-40GB", "tensor_tflops": 31.2})") > 3 * us("A100-40GB"));
    CHECK(us(R"({"base": "A100-40GB", "fp32_tflops": 1})", Dtype::f32) > 5 * us("A100-40GB", Dtype::f32));
    CHECK(us(R"({"base": "H100-SXM", "clock_mhz": 500})") > 3 * us("H100-SXM"));
    CHECK(us(R"({"base": "H100-SXM", "clock_mhz": 500})", Dtype::f32) > 3 * us("H100-SXM", Dtype::f32));
    CHECK(us(R"({"base": "H100-SXM", "tensor_tflops": 2000})") < us("H100-SXM"));
}

TEST_CASE("what is too large to be played is a stream, and says what it lacks", "[timing]") {
    const RunTime t = time_of(experiment("flash_v2", 1, Index{1} << 24));
    CHECK(t.us() > 1e6);
    CHECK(t.launches[0].blocks == 131072);
    CHECK_FALSE(t.dram());
    CHECK(contains(t.no_dram, "visits of tiles"));
    // Two million thread blocks: waves and tail have no effect any more.
    const RunTime stream = time_of(experiment("flash_v2", 16384, 16384));
    const RunTime played = time_of(experiment("flash_v2", 4096, 16384));
    CHECK(stream.launches[0].blocks == 4 * played.launches[0].blocks);
    CHECK(std::abs(stream.us() / played.us() / 4 - 1) < 0.01);
}

TEST_CASE("what is ragged takes as long as what is full: warps own rows, tensor cores compute whole key tiles",
          "[timing]") {
    for (const Dtype dtype : {Dtype::f16, Dtype::f32}) {
        const auto step = [&](Index rows) {
            Experiment e = experiment("flash_v2", 4, 4096, dtype, {64, 64});
            e.problem.seq_q = rows;
            return time_of(e).launches[0].step;
        };
        for (const Unit u : {Unit::tensor, Unit::fma, Unit::exp, Unit::alu}) {
            const auto k = static_cast<std::size_t>(u);
            CHECK(step(1).busy[k] == Approx(step(64).busy[k] / 4));  // with one row, one warp of four is busy
        }
    }
    const auto us = [](Index keys) {
        Experiment e = experiment("flash_v2", 4, 4096, Dtype::f16, {128, 128});
        e.problem.seq_k = keys;
        return time_of(e).us();
    };
    CHECK(us(4097) == Approx(us(4224)).epsilon(0.002));
    CHECK(us(4096) < 0.98 * us(4097));
}

TEST_CASE("a ragged turn is the same code as a full one, and has no registers of its own", "[timing]") {
    for (const char* name : {"flash_v2", "flash_v1", "memory_efficient", "chunked", "standard", "split_kv"})
        for (const bool causal : {false, true}) {
            const auto registers = [&](Index keys) {
                Experiment e = experiment(name, 4, 4032, Dtype::f32, {64, 96});  // 42 tiles of keys
                if (causal) e.problem.mask = Mask::causal();
                e.problem.seq_q = 640, e.problem.seq_k = keys;
                std::vector<Index> all;
                for (const LaunchTime& l : time_of(e).launches) all.push_back(l.registers), all.push_back(l.spills);
                return all;
            };
            INFO(name << (causal ? ", causal" : ""));
            CHECK(registers(4032) == registers(4000));
        }
}

TEST_CASE("pages whose cost is not modelled change no time", "[timing]") {
    for (const char* name : {"flash_v2", "split_kv"})
        for (const Index queries : {Index{1}, Index{1024}})
            for (const Index page : {Index{16}, Index{256}}) {
                Experiment e = experiment(name, 8, 1024, Dtype::f16, {128, 128});
                e.problem.seq_q = queries;
                const double us = time_of(e).us();
                e.problem.pages.size = page;
                INFO(name << ", " << queries << " queries, pages of " << page);
                CHECK(time_of(e).us() == Approx(us).epsilon(0.002));
            }
}

TEST_CASE("no unit of an SM works more than all of the time, where one warp of four has rows neither", "[timing]") {
    for (const auto& [heads, bc] : {std::pair<Index, Index>{2, 256}, {4, 64}, {64, 128}}) {
        Experiment e = experiment("split_kv", heads, 4096, Dtype::f16, {16, bc});
        e.problem.seq_q = 1, e.tiling.splits = 4, e.gpu.sms = 8;
        for (const LaunchTime& t : time_of(e).launches)
            for (std::size_t u = 0; u < static_cast<std::size_t>(Unit::l2); ++u) {
                INFO(heads << " heads, " << t.kernel << ", " << in_words(static_cast<Unit>(u)));
                const auto slots = static_cast<double>(t.residency.blocks);
                CHECK(t.busy[u] <= 1);
                CHECK(slots * t.step.busy[u] <= t.step.together(t.residency.blocks));
            }
    }
}

TEST_CASE("a load waits for its place: memory_efficient's V for Q and K", "[timing]") {
    Experiment e = experiment("memory_efficient", 64, 4096, Dtype::f32, {64, 64});
    const double before = time_of(e).us();
    Algorithm eager = *e.algorithm;
    KernelDescription of_one_place = *eager.kernel;
    of_one_place.places = of_one_place.places.first(1);
    eager.kernel = &of_one_place;
    e.algorithm = &eager;
    CHECK(time_of(e).us() < before);
}

TEST_CASE("a launch as it was played ends when its time does, and changes no time", "[perfetto]") {
    for (const char* name : {"flash_v1", "flash_v2", "standard"}) {
        const Experiment e = experiment(name, 12, 900, Dtype::f32, {64, 64});
        std::vector<PlayedLaunch> played;
        const RunTime run = time_of(e, {.played = &played});
        CHECK(run.us() == time_of(e).us());
        Outline outline;
        Listener* const listeners[] = {&outline};
        CHECK(run.us() == time_of(count(e, nullptr, listeners), outline).us());
        REQUIRE(played.size() == run.launches.size());
        for (std::size_t k = 0; k < played.size(); ++k) {
            const LaunchTime& t = run.launches[k];
            const PlayedLaunch& p = played[k];
            CHECK(static_cast<Count>(p.timeline.stays.size()) == t.blocks);
            CHECK(p.order.size() == p.timeline.stays.size());
            double last = 0;
            for (const Stay& s : p.timeline.stays) last = std::max(last, s.to);
            CHECK(p.launch_us + last / t.clock_mhz == Approx(t.us));
            for (const BlockOfHead& b : p.order) REQUIRE(b.block < p.works.size());
        }
    }
    // The last wave has more memory bandwidth for each thread block, in the timeline as in the time.
    Experiment slow_memory = experiment("flash_v2", 40, 900, Dtype::f16, {64, 64});
    slow_memory.gpu.l2_read_bytes_per_clk = 500;
    std::vector<PlayedLaunch> in_waves;
    const RunTime run = time_of(slow_memory, {.played = &in_waves});
    const PlayedLaunch& p = in_waves.at(0);
    const LaunchTime& t = run.launches.at(0);
    CHECK(run.us() == time_of(slow_memory).us());
    const Index slots = t.residency.blocks, last_wave = t.blocks % (slow_memory.gpu.sms * slots);
    CHECK(p.launch_us + p.timeline.cycles / t.clock_mhz == Approx(t.us));
    REQUIRE(p.timeline.shared.size() == 2);
    CHECK(p.timeline.shared[1].at_work == last_wave);
    CHECK(p.timeline.shared[1].from == p.timeline.last_start);
    const double shared = still_shared(p.sharing, slots, last_wave);
    CHECK(p.works[0].cycles(slots, shared).back() < 0.9 * p.works[0].cycles(slots).back());

    // Too many to play: there is a time, but there are no stays.
    std::vector<PlayedLaunch> played;
    const Experiment many = experiment("flash_v2", 1 << 15, 1 << 14);
    CHECK(time_of(many, {.played = &played}).us() == time_of(many).us());
    REQUIRE(played.size() == 1);
    CHECK(played[0].timeline.stays.empty());
}

TEST_CASE("drawing dropout's mask takes integer operations, reading a stored one none", "[timing]") {
    const auto alu = [](bool drops, bool stored) {
        Experiment e = experiment("flash_v2", 8, 1024, Dtype::f16, {128, 64});
        if (drops) e.problem.dropout = {.p = 0.1, .stored = stored};
        return time_of(e).launches.back().step.busy[static_cast<std::size_t>(Unit::alu)];
    };
    const Rates rates = rates_of(experiment("flash_v2", 8, 1024, Dtype::f16, {128, 64}).gpu);
    const double scores = 128 * 64;
    CHECK(alu(true, true) - alu(false, false) == Approx(scores / rates.fma));
    CHECK(alu(true, false) - alu(true, true) == Approx(8 * scores / rates.half));
}

TEST_CASE("memory_efficient's tiled products wait at barriers, and 16 warps share an SM", "[timing]") {
    for (const auto& [dim, tiling, blocks] :
         {std::tuple<Index, Tiling, Index>{64, {64, 64}, 4}, {128, {64, 128}, 2}, {256, {32, 128}, 4}}) {
        Experiment e = experiment("memory_efficient", 16, 2048, Dtype::f16, tiling);
        e.problem.dim = e.problem.dim_v = dim;
        INFO(dim);
        const RunTime tiled = time_of(e);
        CHECK(tiled.launches[0].residency.blocks == blocks);
        if (dim > 128) continue;  // its second product has the longest passage
        // Each product has a barrier for each piece of 32 and one before them. Two reductions and P have one each.
        const auto barriers = static_cast<double>((dim / 32 + 1) + (tiling.bc / 32 + 1) + 3);
        CHECK(tiled.launches[0].step.waiting >= barriers * constants_of(Style::cuda_cores).barrier);
    }
}

TEST_CASE("looking up a window costs more than the diagonal of a causal mask", "[timing]") {
    Experiment e = experiment("flash_v2", 32, 4096, Dtype::f16, {128, 128});
    e.problem.mask = Mask::causal();
    const double causal = time_of(e).us();
    e.problem.mask = Mask::window(4095, 0);  // the same scores are visible
    CHECK(time_of(e).us() > 1.05 * causal);
    e.problem.dtype = Dtype::f32, e.tiling = {64, 64};
    const double looked_up = time_of(e).us();
    e.problem.mask = Mask::causal();
    CHECK(time_of(e).us() == Approx(looked_up));
}

TEST_CASE("where thread blocks are short, what begins and ends them waits for L2 and DRAM", "[timing]") {
    const auto us = [](Index seq, double l2, double dram, const char* algorithm = "flash_v2") {
        Experiment e = experiment(algorithm, 1024 * 512 / seq, seq);
        e.gpu.l2_read_bytes_per_clk = *e.gpu.l2_read_bytes_per_clk * l2;
        e.gpu.hbm_gbs *= dram, e.gpu.copy_gbs = *e.gpu.copy_gbs * dram;
        return time_of(e).us();
    };
    const double now = us(512, 1, 1), with_half_l2 = us(512, 0.5, 1), with_half_dram = us(512, 1, 0.5);
    // The steps wait for neither. These times are the loads of Q and of the first tile of K, and the store of O.
    CHECK(with_half_l2 > 1.03 * now);
    CHECK(with_half_dram > 1.02 * now);
    CHECK(us(8192, 0.5, 0.5) < 1.02 * us(8192, 1, 1));
    // PyTorch's FlashAttention-2 without a mask: docs/measured/h200/library-forward.csv.
    CHECK(now == Approx(261.02).epsilon(0.04));
}

TEST_CASE("no time is less than DRAM takes for what it moves", "[timing][numbers]") {
    for (const Algorithm& a : algorithms()) {
        if (a.computes != &computation::attention) continue;
        for (const Index queries : {1, 64, 1000}) {
            Problem p;
            p.heads = p.kv_heads = 132, p.seq_q = queries, p.seq_k = 8192, p.dim = p.dim_v = 128;
            const GpuSpec gpu = gpu_preset("H100");
            const RunTime t = time_of({&a, p, {queries == 1 ? 1 : 64, 64}, gpu});
            const auto dram = t.dram();
            INFO(a.name << ", " << queries << " queries: " << t.us() << " us");
            REQUIRE(dram);
            CHECK(static_cast<double>(dram->total()) <= 1.01 * t.us() * gpu.hbm_gbs * 1e3);
        }
    }
}

TEST_CASE("a launch over keys has the rows of a key tile, also where row tiles are as tall", "[timing]") {
    Problem p;
    p.heads = p.kv_heads = 8, p.seq_q = 64, p.seq_k = 4096, p.dim = p.dim_v = 64;
    const auto us = [&](Index bc) {
        return time_of({find_algorithm("flash_v2_backward"), p, {64, bc}, gpu_preset("H100")}).us();
    };
    CHECK(us(64) <= us(65));
}

TEST_CASE("a time is warm where DRAM has less to do than in a first run, in loops and outside of them", "[timing]") {
    Experiment e = experiment("flash_v2", 10, 16384);
    e.problem.seq_k = 32, e.tiling = {128, 32};
    e.gpu = gpu_preset("H100-SXM");
    // Nearly all data are Q and O, which no loop moves. The L2 has room for them only where it keeps one copy.
    e.gpu.l2_bytes = 43 << 20;
    const Report tight = count_and_time(e);
    REQUIRE(tight.hbm_footprint < e.gpu.l2_bytes);
    REQUIRE(tight.time->launches[0].dram_again->total() > tight.time->launches[0].dram->total() / 2);
    CHECK(!is_warm(tight));
    e.gpu.l2_bytes = 430 << 20;
    const Report roomy = count_and_time(e);
    CHECK(is_warm(roomy));
    CHECK(contains(about_warm(roomy), "again: what it touches, "));
    e.gpu.l2_bytes = 20 << 20;
    CHECK(!is_warm(count_and_time(e)));
    e = experiment("flash_v2", 32, 8192);
    e.problem.kv_heads = 8, e.problem.seq_q = 1, e.problem.dim = e.problem.dim_v = 128, e.tiling = {1, 64};
    e.gpu = gpu_preset("H100-SXM");
    const Report partly = count_and_time(e);
    REQUIRE((kept_by_l2(partly) > 0.5 && kept_by_l2(partly) < nearly_all_kept));
    CHECK(contains(about_warm(partly), text::percent(kept_by_l2(partly)) + " of what it touches, "));
}

TEST_CASE("warps that own rows have fragments of 16 each: 112 rows cost four of them as much as 128",
          "[timing][numbers]") {
    const auto step = [](Index rows, Dtype dtype = Dtype::f16) {
        return time_of(experiment("flash_v2", 64, 4096, dtype, {rows, 64})).launches[0];
    };
    const auto busy = [](const LaunchTime& l, Unit u) { return l.step.busy[static_cast<std::size_t>(u)]; };
    for (const Index rows : {80, 96, 112}) {
        INFO(rows << " rows");
        REQUIRE(step(rows).warps == 4);
        for (const Unit u : {Unit::tensor, Unit::exp, Unit::alu})
            CHECK(busy(step(rows), u) == Approx(busy(step(128), u)));
        CHECK(busy(step(rows, Dtype::f32), Unit::exp) < 0.9 * busy(step(128, Dtype::f32), Unit::exp));
    }
    CHECK(2 * busy(step(64), Unit::tensor) == Approx(busy(step(128), Unit::tensor)));
}
