// The part of an SM that a thread block takes, the tiles of its kernel, and the units of its launches.
#include <algorithm>

#include "algorithms/contract/pass_lists.hpp"
#include "algorithms/contract/refusal.hpp"
#include "algorithms/contract/roles.hpp"
#include "core/machine/lane.hpp"
#include "lab/gpu/gpu_fields.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/full_tiles.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/model/timing.hpp"
#include "lab/run/reference.hpp"
#include "lab/study/conclusion.hpp"
#include "lab/study/study.hpp"
#include "tests/lab/timed.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;

TEST_CASE("a thread block needs no more room than there is", "[timing]") {
    for (const Tiling& tiling : {Tiling{128, 64}, Tiling{128, 128}, Tiling{192, 64}, Tiling{256, 64}, Tiling{64, 448}})
        for (const Index dim : {64, 128, 256}) {
            Experiment e = experiment("flash_v2", 64, 4096, Dtype::f16, tiling);
            e.problem.dim = e.problem.dim_v = dim;
            if (!fits(*e.algorithm, e.problem, e.tiling, e.gpu)) continue;
            INFO(tiling.br << " x " << tiling.bc << ", d = " << dim);
            const Report r = count_and_time(e);
            const Index resident = r.time->launches[0].residency.blocks;
            CHECK(resident >= 1);
            CHECK(resident * (r.launches[0].sram_peak + 1024) <= e.gpu.sram_per_sm);
            if (resident > 1) CHECK(resident * r.launches[0].register_peak <= e.gpu.registers_per_sm);
        }
}

TEST_CASE("an SM's registers hold the tiles of all its thread blocks, or are those of a compiled kernel", "[timing]") {
    std::mt19937 random(13);
    const auto one_of = [&](std::initializer_list<Index> list) { return list.begin()[random() % list.size()]; };
    for (const Algorithm& a : algorithms())
        for (int n = 0; n < 6; ++n) {
            Problem p;
            p.heads = p.kv_heads = one_of({1, 8}), p.seq_q = p.seq_k = one_of({60, 1000, 1024});
            p.dim = p.dim_v = one_of({32, 64, 128});
            p.dtype = n % 2 ? Dtype::f16 : Dtype::f32;
            const Tiling tiling{std::min(p.seq_q, one_of({32, 64, 128})), std::min(p.seq_k, one_of({32, 64, 128}))};
            Experiment e{&a, p, tiling, gpu_preset(n % 3 ? "H100" : "V100")};
            e.tiling = completed(e.tiling, a, p, e.gpu);
            if (refuses(a, p) || !fits(a, p, e.tiling, e.gpu)) continue;
            const Report r = count_and_time(e);
            for (std::size_t k = 0; k < r.launches.size(); ++k) {
                const LaunchTime& l = r.time->launches[k];
                INFO(a.name << ' ' << l.kernel << ' ' << tiling.br << " x " << tiling.bc << ", d = " << p.dim);
                CHECK(l.warps >= 1);
                CHECK(l.registers >= 1);
                CHECK(l.registers <= 255);
                if (l.compiled || l.residency.blocks == 1) continue;
                // A kernel that holds operands in pieces needs fewer registers than the program's tiles.
                if (a.kernel->tiled.warps_on_sm == 0 || p.dtype == Dtype::f32)
                    CHECK(l.residency.blocks * r.launches[k].register_peak <= e.gpu.registers_per_sm);
                CHECK(l.residency.blocks * l.warps * 32 * l.registers * 4 <= e.gpu.registers_per_sm);
            }
        }
}

TEST_CASE("a kernel has the registers and the shared memory of its full tile, however short the keys", "[timing]") {
    for (const char* name : {"flash_v1", "flash_v2", "memory_efficient", "standard"})
        for (const Dtype dtype : {Dtype::f16, Dtype::f32}) {
            Experiment cut = experiment(name, 16, 20, dtype);
            const Tiling released = published_tiling(*cut.algorithm, cut.problem, cut.gpu);
            cut.tiling = choose_tiling(*cut.algorithm, cut.problem, {}, cut.gpu);
            Experiment full = experiment(name, 16, 4096, dtype, released);
            INFO(name << ' ' << name_of(dtype));
            CHECK(cut.tiling.bc == 20);
            const RunTime short_time = time_of(cut), long_time = time_of(full);
            for (std::size_t k = 0; k < short_time.launches.size(); ++k) {
                if (std::string_view(short_time.launches[k].kernel) == "softmax")
                    continue;  // the thread blocks of this launch have other numbers of rows
                CHECK(short_time.launches[k].residency.blocks == long_time.launches[k].residency.blocks);
                CHECK(short_time.launches[k].warps == long_time.launches[k].warps);
                CHECK(short_time.launches[k].registers == long_time.launches[k].registers);
            }
        }
}

TEST_CASE("a thread block with more warps than an SM has room for does not fit", "[timing]") {
    Experiment e = experiment("flash_v2", 8, 1024);
    e.gpu = parse_gpu(R"({"base": "H100", "max_warps_per_sm": 3})", "mine");
    const Report r = count_and_time(e);
    CHECK(!r.time);
    CHECK_FALSE(r.fits_sm());
    CHECK(contains(why_incomplete(r), "does not fit: a thread block of flash_v2 has 4 warps"));
    CHECK(r.no_time ==
          "a thread block of flash_v2 has 4 warps, an SM of H100-SXM (changed) has room for 3 (max_warps_per_sm)");
    CHECK(r.counters == count(e).counters);
    e.gpu.max_warps_per_sm = 4;
    CHECK(count_and_time(e).time->launches[0].residency.blocks == 1);
    CHECK(count_and_time(e).fits_sm());
}

TEST_CASE("algorithms that are put on one tiling have one tiling where it is cut, too", "[timing]") {
    const auto cut = [](const char* name, bool shares) {
        Experiment e = experiment(name, 2, 100);
        e.tiling = {100, 100};
        e.shares_tiles = shares;
        return kernel_tiles(e);
    };
    for (const char* name : {"standard", "flash_v1", "two_pass", "split_kv"})
        CHECK(cut(name, true) == cut("flash_v2", false));
    CHECK(cut("flash_v1", false) != cut("flash_v2", false));
    // A kernel of tiled products keeps its own tiles: others would change its number of warps.
    CHECK(cut("memory_efficient", true) == cut("memory_efficient", false));
}

TEST_CASE("the system takes 1 KiB a thread block, wherever shared memory is shared out", "[timing]") {
    // A file may give a thread block less than an SM's shared memory; other thread blocks can use the rest.
    const GpuSpec limited = parse_gpu(R"({"base": "H100", "sram_per_block": 100000})", "mine");
    CHECK(limited.system_sram() == 1024);
    CHECK(gpu_preset("V100").system_sram() == 0);
    CHECK(residency({.shared = 99000}, limited).blocks == 2);
    GpuSpec larger = limited;
    larger.sram_per_sm = 300000;
    scale_what_follows(larger, limited, [](std::string_view key) { return key == "sram_per_sm"; });
    CHECK(larger.sram_per_block == 300000 - 1024);
}

TEST_CASE("a program of one's own has the tiles that it is given, however short the sequence", "[timing]") {
    Experiment e = experiment("flash_v2", 8, 64, Dtype::f16, {64, 64});
    CHECK(kernel_tiles(e) != e.tiling);
    Algorithm own = *e.algorithm;
    own.lineage.file = "mine.cpp";
    e.algorithm = &own;
    CHECK(kernel_tiles(e) == e.tiling);
}

TEST_CASE("the time of a program with lanes says that it is of one without", "[timing][lane]") {
    Experiment e = experiment("flash_v2", 8, 256);
    Algorithm own = *e.algorithm;
    own.lineage.file = "mine.cpp";
    own.run = [](Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
        const Hbm Q = t["Q"], O = t["O"], LSE = t["LSE"];
        const Tiles rows(p.seq_q, tile.br, "i");
        gpu.launch("copy", {p.head_axis(), uniform(rows)}, [&](Block& b, Span head, Span i) {
            Lane producer = b.lane("producer", {});
            b.store(producer->load(Q.of(head), i), O.of(head), i);
            b.store(b.alloc_registers("l", i.size, 1), LSE.of(head), i);
        });
    };
    e.algorithm = &own;
    const std::string note =
        "the program has lanes; warps, registers and time are modelled of the same operations without them";
    const auto says = [&](const Report& r) { return std::count(r.notes.begin(), r.notes.end(), note); };
    const Report r = count_and_time(e);
    CHECK(says(r) == 1);
    CHECK(r.time);
    CHECK(says(with_outputs(r, inputs_of(own, e.problem, 1, Distribution::normal))) == 1);
    const Report other = count_and_time(experiment("flash_v2", 8, 256));
    CHECK(says(other) == 0);
    const std::vector<Contender> both = {{"mine", &r}, {"flash_v2", &other}};
    CHECK(conclusion(both) ==
          std::vector<std::string>{"Not ranked: mine, because lanes are not timed: what is modelled is "
                                   "the program without them."});
}

TEST_CASE("without lanes flash_v3 takes the time of flash_v2's steps, however its products overlap", "[timing][lane]") {
    // Each thread block has an SM to itself, so that only the steps count, and not what a ring of slots needs.
    const auto timed = [](const char* algorithm, Experiment e, Index overlap = 0) {
        e.algorithm = find_algorithm(algorithm), e.placing.blocks_per_sm = 1, e.placing.order = Order::rows;
        e.tiling.overlap = overlap;
        e.tiling = completed(e.tiling, *e.algorithm, e.problem, e.gpu);
        const RunTime t = time_of(e);
        CHECK(t.without_lanes == (algorithm == std::string("flash_v3")));
        return t.launches.at(0);
    };
    for (const Dtype dtype : {Dtype::f32, Dtype::f16})
        for (const bool causal : {false, true})
            for (const Index keys : {64, 100, 128, 190, 1024, 1030}) {
                Experiment e = experiment("flash_v3", 16, keys, dtype, {64, 64});
                e.gpu = gpu_preset("A100");
                if (causal) e.problem.mask = Mask::causal();
                INFO(name_of(dtype) << ' ' << causal << ' ' << keys);
                const LaunchTime two = timed("flash_v2", e), three = timed("flash_v3", e);
                CHECK(three.steps == Approx(two.steps));
                CHECK(three.us == Approx(two.us).epsilon(0.03));
                CHECK(three.us == Approx(timed("flash_v3", e, off).us).epsilon(0.001));
            }
}

TEST_CASE("a tile without rows takes no time, and keeps nobody waiting", "[timing][lane]") {
    // Half of an odd row block may have no rows.
    for (const Dtype dtype : {Dtype::f16, Dtype::f32}) {
        Experiment e = experiment("flash_v2", 2, 129, dtype);
        Algorithm own = *e.algorithm;
        own.lineage.file = "mine.cpp";
        own.run = [](Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
            const Hbm Q = t["Q"], K = t["K"], V = t["V"], O = t["O"], LSE = t["LSE"];
            const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
            gpu.launch("halves", {p.head_axis(), p.row_axis(rows, keys)}, [&](Block& b, Span head, Span i) {
                for (const Span half : {Span{i.begin, i.size / 2}, Span{i.begin + i.size / 2, i.size - i.size / 2}}) {
                    Tile q = b.load(Q.of(head), half), o = b.alloc_registers("O", half.size, p.dim_v);
                    Tile m = b.alloc_registers("m", half.size, 1);
                    b.uniform(keys, [&](Span j) {
                        Tile k = b.load(K.of(head), j), v = b.load(V.of(head), j);
                        Tile s = b.alloc_registers("S", half.size, j.size);
                        b.matmul(s, q, k, Trans::b);
                        row_max(b, m, s), exp_minus(b, s, m);
                        b.matmul(o, s, v, Trans::none);
                    });
                    b.store(o, O.of(head), half), b.store(m, LSE.of(head), half);
                }
            });
        };
        e.algorithm = &own;
        const Report r = count_and_time(e);
        REQUIRE(r.time);
        CHECK((r.time->us() > 0 && r.time->us() < 1e6));
    }
}

TEST_CASE("a launch without room on an SM leaves the run without a time, whichever it is", "[timing]") {
    Experiment e = experiment("standard", 8, 512);
    e.gpu.max_warps_per_sm = 4;
    const Report r = count_and_time(e);
    CHECK_FALSE(r.time);
    CHECK(contains(r.no_time, "has room for 4 (max_warps_per_sm)"));
}

TEST_CASE("tensor cores multiply no f32, whatever the run's type", "[timing]") {
    const auto products = [](const char* passes) {
        Experiment e = experiment("standard", 16, 4096);
        e.problem.passes = passes_from(passes);
        double us = 0;
        for (const LaunchTime& l : time_of(e).launches)
            if (l.kernel == std::string("scores") || l.kernel == std::string("output")) us += l.us;
        return us;
    };
    const Rates r = rates_of(gpu_preset("H200"));
    const double least = 2 * 2 * 16.0 * 4096 * 4096 * 64 / (2 * r.fma * 132 * r.clock_mhz[0]);
    CHECK(products("typed") < least);
    CHECK(products("product:f32/softmax/product") < least);
    CHECK(products("math") > least);
    // PyTorch's kernels, measured (algorithms/attention/standard/README.md).
    CHECK(products("math") == Approx(2290).epsilon(0.15));
}
