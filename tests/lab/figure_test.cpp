// Figures: the numbers that are drawn, and the script that draws them.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/machine/error.hpp"
#include "lab/figure/kinds.hpp"
#include "lab/figure/layout.hpp"
#include "lab/figure/ticks.hpp"
#include "lab/figure/tile_visits.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using Catch::Matchers::ContainsSubstring;

namespace {

FigureRequest request(std::vector<const char*> vary = {}, const char* variant = nullptr) {
    FigureRequest r;
    for (const char* v : vary) r.vary.push_back(parse_axis(v));
    if (variant) r.variants.push_back(variant_from(variant));
    r.command = "tilescope plot";
    return r;
}

const Series& named(const Panel& p, const std::string& title) {
    const auto found =
        std::find_if(p.series.begin(), p.series.end(), [&](const Series& s) { return s.title.starts_with(title); });
    REQUIRE(found != p.series.end());
    return *found;
}

Report report_of(const char* algorithm, Index heads, Index seq, Tiling tiling, Index dim = 64,
                 const char* gpu = "H100") {
    Problem p;
    p.heads = p.kv_heads = heads, p.seq_q = p.seq_k = seq, p.dim = p.dim_v = dim, p.dtype = Dtype::f16;
    return count_and_time({find_algorithm(algorithm), p, tiling, gpu_preset(gpu)});
}

}  // namespace

TEST_CASE("ticks are round numbers, in one unit", "[figure]") {
    const auto said = [](const std::vector<FigureAxis::Tick>& ticks) {
        std::vector<std::string> all;
        for (const auto& t : ticks) all.push_back(t.text);
        return all;
    };
    using Words = std::vector<std::string>;
    CHECK(said(round_sizes(256, 16256, true)) == Words{"256", "512", "1k", "2k", "4k", "8k"});
    CHECK(said(round_sizes(256, 1048576, true)) ==
          Words{"256", "512", "1k", "2k", "4k", "8k", "16k", "32k", "64k", "128k", "256k", "512k", "1M"});
    CHECK(said(round_sizes(1, 64, false)) == Words{"1", "8", "16", "24", "32", "40", "48", "56", "64"});
    CHECK(said(round_sizes(1000, 1900, true)) == Words{"1k", "1,152", "1,280", "1,408", "1,536", "1,664", "1,792"});
    CHECK(said(round_sizes(100000, 900000, false)) ==
          Words{"100,000", "200,000", "300,000", "400,000", "500,000", "600,000", "700,000", "800,000", "900,000"});
    FigureAxis time{"time", Scale::seconds};
    in_one_unit(time, 1.6e-4);
    CHECK(time.words() == "time, µs");
    CHECK(said(time.ticks) == Words{"0", "50", "100", "150", "200"});
    CHECK(*time.to == Approx(2e-4));
    FigureAxis bytes{"bytes", Scale::bytes};
    in_one_unit(bytes, 7.12e9);
    CHECK(bytes.words() == "bytes, GB");
    CHECK(said(bytes.ticks) == Words{"0", "2", "4", "6", "8"});
    FigureAxis count{"of it"};
    in_one_unit(count, 0.3);
    CHECK(count.words() == "of it");
    CHECK(said(count.ticks) == Words{"0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3"});
    FigureAxis flops{"GFLOP"};
    in_one_unit(flops, 1100);
    CHECK(said(flops.ticks) == Words{"0", "200", "400", "600", "800", "1,000", "1,200"});
    FigureAxis log{"bytes", Scale::bytes, true};
    in_one_unit(log, 7e9);
    CHECK(log.ticks.empty());
}

TEST_CASE("bytes against the sequence length are those of runs, and what has no room in HBM is crossed out",
          "[long][figure]") {
    const Figure f = io_vs_n(request({"seq=1024:64k:x4"}));
    REQUIRE(f.panels.size() == 2);
    const Series &flash = named(f.panels[0], "FlashAttention-2"), &dram = named(f.panels[1], "FlashAttention-2");
    REQUIRE(flash.points.size() == 4);
    for (std::size_t k = 0; k < 3; ++k) {
        const Report r = report_of("flash_v2", 8, Index{1024} << (2 * k), {128, 128});
        CHECK(flash.points[k].y == static_cast<double>(r.counters.hbm()));
        CHECK(dram.points[k].y == static_cast<double>(r.dram()->read));
        CHECK(named(f.panels[1], "compulsory").points[k].y <= dram.points[k].y);
    }
    // Scores and probabilities of 8 heads of 64k x 64k are 137 GB.
    const Series& beyond = named(f.panels[0], "does not fit in HBM");
    REQUIRE(beyond.points.size() == 1);
    CHECK(beyond.points[0].x == 65536);
    CHECK(beyond.points[0].y == named(f.panels[0], "standard attention").points[3].y);
    for (const FigurePoint& p : named(f.panels[0], "compulsory").points) CHECK(p.y == 8 * 4 * p.x * 64 * 2);
    const Series& shape = named(f.panels[0], "N d + N²");
    const auto quadratic = [](double n) { return n * 64 + n * n; };
    CHECK(shape.points[0].y / shape.points[3].y == Approx(quadratic(1024) / quadratic(65536)));
    // The curve goes through the last point that fits in HBM.
    CHECK(shape.points[2].y == named(f.panels[0], "standard attention").points[2].y);
    CHECK(f.of_all.find("8 heads, d = 64, f16 on H100-SXM. Tiles, Br x Bc: 128 x 128 for all.") != std::string::npos);
}

TEST_CASE("more SRAM never moves more bytes, and the lower bound lies below all", "[long][figure]") {
    const Figure f = io_vs_sram(request({"sram=8:128:x2"}));
    const Panel& p = f.panels[0];
    const Series& bound = named(p, "lower bound");
    bool touched = false;
    for (const char* name : {"standard attention", "FlashAttention", "FlashAttention-2"}) {
        const Series& s = named(p, name);
        REQUIRE(s.points.size() == 5);
        for (std::size_t k = 0; k < 5; ++k) {
            if (k > 0) CHECK(s.points[k].y <= s.points[k - 1].y);
            CHECK(bound.points[k].y <= s.points[k].y * (1 + 1e-12));
            touched = touched || bound.points[k].y > s.points[k].y * (1 - 1e-12);
        }
    }
    CHECK(touched);
    // M = d^2 = 4,096 elements are 8 KiB: from there on, twice the SRAM halves the bound.
    for (std::size_t k = 1; k < 5; ++k) CHECK(bound.points[k].y == Approx(bound.points[k - 1].y / 2));
}

TEST_CASE("FlashAttention's figure 2, middle: accesses fall with the block size, time stops to", "[figure][numbers]") {
    const Figure f = io_vs_block(request());
    const std::vector<FigurePoint>&bytes = named(f.panels[0], "FlashAttention").points,
          &time = named(f.panels[1], "FlashAttention").points;
    REQUIRE(bytes.size() == 4);
    const double expected[] = {7.12, 3.77, 2.09, 1.25};  // GB; Algorithm 1 with its initialisations, in closed form
    for (std::size_t k = 0; k < 4; ++k) CHECK(bytes[k].y / 1e9 == Approx(expected[k]).margin(0.01));
    CHECK(time[2].y < time[0].y / 2);
    CHECK(time[3].y > time[2].y * 0.95);
}

TEST_CASE("a roof is above every dot", "[figure]") {
    const Figure f = roofline(request());
    const GpuSpec gpu = gpu_preset("H100");
    for (const Series& s : f.panels[0].series) {
        if (s.look != Look::points && s.look != Look::open_points) continue;
        for (const FigurePoint& p : s.points) {
            INFO(s.title);
            CHECK(p.y < gpu.tensor_tflops * 1e12);
            if (s.look == Look::open_points) CHECK(p.y < p.x * gpu.hbm_gbs * 1e9);
        }
    }
    const Report r = report_of("flash_v2", 64, 4096, {128, 128});
    const double needed = 64 * 4.0 * 64 * 4096 * 4096;  // two products of d = 64 for each head, no mask
    CHECK(named(f.panels[0], "FlashAttention-2, by SM traffic").points[0].x ==
          Approx(needed / static_cast<double>(r.counters.hbm())));
}

TEST_CASE("every GPU's roofs are in the picture", "[figure]") {
    for (const char* gpu : {"B200", "T4", "H100", "toy"}) {
        FigureRequest r = request();
        r.options.gpu = gpu;
        if (gpu == std::string("toy")) r.options.dtype = "f32", r.options.br = r.options.bc = "2";
        const Panel p = roofline(r).panels[0];
        INFO(gpu << ": " << *p.y.from << " to " << *p.y.to);
        for (const Series& s : p.series)
            if (s.look == Look::dashes) {
                CHECK(s.points[0].y < *p.y.to);
                CHECK(s.points[0].y > *p.y.from);
            }
    }
}

TEST_CASE("under the roofs who takes longer is lower: hidden tiles are no speed", "[figure]") {
    FigureRequest masked = request();
    masked.options.heads = 1, masked.options.seq = 512, masked.options.dim = 128, masked.options.causal = true;
    masked.variants = {variant_from("standard"), variant_from("three_pass"), variant_from("flash_v1"),
                       variant_from("flash_v2")};
    const Figure f = roofline(masked);
    const double needed = 4.0 * 128 * 512 * 513 / 2;  // of a head: each query sees itself and what is before it
    for (const Variant& v : masked.variants) {
        INFO(v.label);
        const FigurePoint dot = named(f.panels[0], v.title + ", by SM traffic").points[0];
        const Report r = *outcomes_of(masked, {{&v, {}}})[0].report;
        CHECK(dot.y == Approx(needed / (r.time->us() * 1e-6)));
        CHECK(dot.x == Approx(needed / static_cast<double>(r.counters.hbm())));
        CHECK(r.useful_flops() == needed);
        CHECK(r.useful_flops() <= static_cast<double>(r.counters.matmul_flops));
    }
}

TEST_CASE("no dot of a roofline lies above its roof, on presets and on changed machines", "[figure][numbers]") {
    std::vector<std::string> gpus = gpu_preset_names();
    std::erase(gpus, "toy");
    for (const char* changes : {R"("sms": 78, "hbm_gbs": 4000, "tensor_tflops": 148)", R"("tensor_tflops": 2000)",
                                R"("fp32_tflops": 1)", R"("clock_mhz": 500)", R"("mma_flops_per_clk": 4096)",
                                R"("fma_per_clk": 120)", R"("copy_gbs": 3350)", R"("mma_light_clock_mhz": 4000)"})
        gpus.push_back(R"({"base": "H100-SXM", )" + std::string(changes) + "}");
    for (const std::string& gpu : gpus)
        for (const char* dtype : {"f16", "f32"}) {
            FigureRequest r = request({}, "flash_v2");
            r.options.gpu = gpu, r.options.dtype = dtype, r.options.heads = 32, r.options.seq = 2048;
            const Panel p = roofline(r).panels[0];
            const auto roof = [&](const std::string& title) {
                for (std::size_t k = 1; k < p.series.size(); ++k)
                    if (p.series[k].look == Look::words && p.series[k].points[0].label.starts_with(title))
                        return p.series[k - 1].points;
                return std::vector<FigurePoint>();
            };
            const auto height = [](const FigurePoint& end, double x) { return end.y / end.x * x; };
            const double flat = roof(dtype == std::string("f16") ? "tensor cores" : "FP32").at(0).y;
            int dots = 0;
            for (const Series& s : p.series)
                if (s.look == Look::points || s.look == Look::open_points)
                    for (const FigurePoint& dot : s.points) {
                        INFO(gpu << ' ' << dtype << ' ' << s.title << ": " << dot.y << " FLOP/s");
                        ++dots;
                        CHECK(dot.y <= flat);
                        CHECK(dot.y <= height(roof(s.look == Look::points ? "L2" : "DRAM").at(0), dot.x));
                    }
            CHECK(dots == 2);
        }
}

TEST_CASE("a timeline of what has no time says why", "[figure]") {
    FigureRequest r = request({}, "flash_v2");
    r.options.gpu = R"({"base": "H100", "max_warps_per_sm": 1})";
    CHECK_THROWS_WITH(timeline_figure(r),
                      Catch::StartsWith("plot timeline: does not fit: a thread block of flash_v2 has 4"));
    CHECK_THROWS_WITH(loop_order(r), Catch::StartsWith("plot loop-order: does not fit: a thread block of flash_v2"));
    r.options.gpu = R"({"base": "H100", "hbm_bytes": 1000})";
    CHECK_THROWS_WITH(timeline_figure(r), Catch::StartsWith("plot timeline: no time: "));
}

TEST_CASE("a ladder's steps sum to the traffic of the run", "[figure]") {
    const Figure f = ladder(request());
    std::map<double, double> sums;
    for (const Box& b : f.panels[0].boxes) sums[std::round((b.left + b.right) / 2)] += b.top - b.bottom;
    CHECK(sums.size() == 7);
    CHECK(sums[0] == static_cast<double>(report_of("standard", 16, 4096, {128, 128}).counters.hbm()));
    CHECK(sums[4] == static_cast<double>(report_of("flash_v2", 16, 4096, {128, 128}).counters.hbm()));
    // Reductions count as traffic, too.
    const Figure backward = ladder(request({}, "flash_v2_backward:br=64,bc=64"));
    double sum = 0;
    for (const Box& b : backward.panels[0].boxes) sum += b.top - b.bottom;
    const Counters counted = report_of("flash_v2_backward", 16, 4096, {64, 64}).counters;
    CHECK(counted.hbm_reduce > 0);
    CHECK(sum == static_cast<double>(counted.hbm()));
    double of_gradients = 0;
    for (const Box& b : backward.panels[0].boxes) of_gradients += b.series == "dO, dQ, dK, dV" ? b.top - b.bottom : 0;
    CHECK(of_gradients > sum / 2);
    const Figure softmax = ladder(request({}, "softmax_safe"));
    for (const Box& b : softmax.panels[0].boxes) CHECK((b.series == "X" || b.series == "Y"));
    CHECK_THAT(softmax.of_all, ContainsSubstring("16 matrices, N = 4,096"));
}

TEST_CASE("both passes stand beside what was printed of the paper's size, and of no other",
          "[figure][backward][numbers]") {
    const Figure f = forward_backward(request());
    REQUIRE(f.panels.size() == 3);
    const auto value = [](const Panel& p, const std::string& source, double near) {
        for (const Box& b : p.boxes)
            if (b.series == source && std::abs((b.left + b.right) / 2 - near) < 0.5) return b.top;
        return 0.0;
    };
    CHECK(value(f.panels[1], "printed, arXiv v2", 0) == 40.3e9);
    CHECK(value(f.panels[1], "printed, NeurIPS", 0) == 35.3e9);
    CHECK(value(f.panels[1], "printed, NeurIPS", 1) == 4.4e9);
    CHECK(value(f.panels[2], "printed, arXiv v2", 1) == 7.3e-3);
    // Six products without recomputation; seven with it.
    const double product = 2.0 * 64 * 16 * 1024 * 1024 * 64 / 1e9;
    CHECK(value(f.panels[0], "counted", 0) == Approx(6 * product));
    CHECK(value(f.panels[0], "counted", 1) == Approx(7 * product));
    CHECK(value(f.panels[0], "printed, arXiv v2", 0) == 66.6);
    // The flash versions have less of everything else.
    CHECK(value(f.panels[1], "counted", 1) < value(f.panels[1], "counted", 0));
    CHECK(value(f.panels[2], "modelled", 1) < value(f.panels[2], "modelled", 0));
    // Each panel's caption says what is in the panel; bars, captions and tiles call a run by one name.
    CHECK_THAT(f.panels[0].caption, ContainsSubstring("six and seven products") && !ContainsSubstring("modelled"));
    CHECK_THAT(f.panels[1].caption, ContainsSubstring("move 25.2 GB") && ContainsSubstring("move 4.65 GB"));
    CHECK_THAT(f.panels[2].caption, !ContainsSubstring("FLOPs"));
    CHECK_THAT(f.of_all, !ContainsSubstring("backward, "));
    FigureRequest alone = request({}, "flash_v1_backward");
    CHECK_THAT(caption_of(forward_backward(alone)),
               ContainsSubstring(" seven products") && !ContainsSubstring("Algorithms 0 and 3"));
    alone.options.gpu = "H200";  // a GPU with other tiles
    const Figure elsewhere = forward_backward(alone);
    CHECK(value(elsewhere.panels[2], "printed, NeurIPS", 0) == 0);
    CHECK_THAT(caption_of(elsewhere), !ContainsSubstring("printed FLOPs") && ContainsSubstring("on an A100 alone"));
    alone.options.gpu = "A100", alone.options.sms = 10;
    CHECK(value(forward_backward(alone).panels[2], "printed, NeurIPS", 0) == 0);
    FigureRequest other = request();
    other.options.heads = 8;
    const Figure no_paper = forward_backward(other);
    CHECK(value(no_paper.panels[1], "printed, arXiv v2", 0) == 0);
    CHECK(value(no_paper.panels[1], "counted", 0) > 0);
    CHECK_THAT(caption_of(no_paper), !ContainsSubstring("Algorithms 0 and 3"));
    other.variants = {variant_from("standard")};
    CHECK_THROWS_WITH(forward_backward(other), ContainsSubstring("standard is no backward pass"));
}

TEST_CASE("the plane of tiles hatches what does not fit, and marks the least", "[figure]") {
    FigureRequest r = request({"br=64,128,512", "bc=64,128,512"});
    r.metric = "hbm_bytes";
    const Figure f = tiles_plane(r);
    const Panel& p = f.panels[0];
    REQUIRE(p.boxes.size() == 9);
    const auto cell = [&](std::size_t i, std::size_t j) -> const Box& { return p.boxes[3 * i + j]; };
    CHECK(cell(2, 2).hatched);
    CHECK(cell(2, 2).series == "no room in registers");
    CHECK_FALSE(cell(1, 1).hatched);
    CHECK(cell(0, 0).shade == static_cast<double>(report_of("flash_v2", 64, 4096, {64, 64}).counters.hbm()));
    double least = cell(0, 0).shade;
    for (const Box& b : p.boxes)
        if (!b.hatched) least = std::min(least, b.shade);
    CHECK(*p.shades->from == least);
    const FigurePoint best = named(p, "best of these: ").points[0];
    CHECK(cell(static_cast<std::size_t>(best.y), static_cast<std::size_t>(best.x)).shade == least);
    CHECK(named(p, "FlashAttention-2's: 128 x 128").points[0].x == 1);
    // 512 x 48 fits on chip, but needs more registers per thread than 8 warps have.
    FigureRequest tall = request({"br=128,512", "bc=48"});
    const Figure timed = tiles_plane(tall);
    CHECK(timed.panels[0].boxes[1].series == "registers would spill");
    tall.metric = "hbm_bytes";
    const Figure counted = tiles_plane(tall);
    CHECK_FALSE(counted.panels[0].boxes[1].hatched);
    r.metric = "blocks_per_sm";  // more is not better for this metric
    const Figure blocks = tiles_plane(r);
    for (const Series& s : blocks.panels[0].series) CHECK_FALSE(s.title.starts_with("best"));
    r.metric = "limited_by";
    CHECK_THROWS_WITH(tiles_plane(r), "--metric limited_by: is a word; try --metric time_us");
    r.metric = "time";
    CHECK_THROWS_AS(tiles_plane(r), UsageError);
}

TEST_CASE("limits of SRAM and registers run between the tiles that have room and those that have not", "[figure]") {
    FigureRequest r = request({"br=64:512:+64", "bc=64:512:+64"}, "flash_v2");
    r.options.dim = 128, r.metric = "hbm_bytes";
    const Figure f = tiles_plane(r);
    const Panel& p = f.panels[0];
    const auto limit = [&](const char* title, std::size_t row) {
        for (const FigurePoint& q : named(p, title).points)
            if (q.y == static_cast<double>(row)) return q.x;
        return -1.0;
    };
    bool of_sram = false, of_registers = false;
    for (std::size_t i = 0; i < 8; ++i)
        for (std::size_t j = 0; j < 8; ++j) {
            const Box& b = p.boxes[8 * i + j];
            const double x = static_cast<double>(j);
            INFO(i << ", " << j << ": " << b.series);
            CHECK((x <= limit("limit of SRAM", i) && x <= limit("limit of registers", i)) == !b.hatched);
            of_sram = of_sram || x > limit("limit of SRAM", i);
            of_registers = of_registers || x > limit("limit of registers", i);
        }
    CHECK(of_sram);
    CHECK(of_registers);
}

TEST_CASE("a path on a roofline begins at a ring, and has no label that could lie on another's", "[figure]") {
    const Figure f = roofline(request({"seq=512:4k:x2"}));
    std::size_t rings = 0, paths = 0;
    for (const Series& s : f.panels[0].series) {
        rings += s.look == Look::rings, paths += s.look == Look::measured_line || s.look == Look::dots;
        if (s.look != Look::words)
            for (const FigurePoint& q : s.points) CHECK(q.label.empty());
    }
    CHECK(rings == 6);
    CHECK(paths == 6);
    CHECK(f.of_all.find("Rings: where paths begin, at seq = 512; they end at 4096.") != std::string::npos);
}

TEST_CASE("thread blocks on a timeline do not overlap, and end when the run does", "[figure]") {
    const Figure f = timeline_figure(request());
    REQUIRE(f.panels.size() == 2);
    for (const Panel& p : f.panels) {
        double last = 0;
        for (std::size_t a = 0; a < p.boxes.size(); ++a) {
            last = std::max(last, p.boxes[a].right);
            for (std::size_t b = 0; b < a; ++b) {
                const Box &x = p.boxes[a], &y = p.boxes[b];
                const bool apart = x.left >= y.right * (1 - 1e-9) || y.left >= x.right * (1 - 1e-9) ||
                                   x.bottom >= y.top - 1e-9 || y.bottom >= x.top - 1e-9;
                REQUIRE(apart);
            }
        }
        CHECK(last <= *p.x.to * (1 + 1e-9));
        CHECK(last > 0);
    }
}

TEST_CASE("captions say what the picture shows, and no more", "[figure][numbers]") {
    const auto said = [](Figure (*draw)(const FigureRequest&), const FigureRequest& r) { return caption_of(draw(r)); };
    CHECK_THAT(said(waves, request({"heads=1:40:+1"}, "flash_v2")),
               ContainsSubstring("a head more costs a whole wave"));
    for (const char* coarse : {"heads=128:1024:x2", "heads=1:4:+1", "heads=8"})
        CHECK_THAT(said(waves, request({coarse}, "flash_v2")), !ContainsSubstring("a head more costs"));
    CHECK_THAT(said(timeline_figure, request()),
               ContainsSubstring("neighbouring heads") && ContainsSubstring("The same"));
    FigureRequest one = request({}, "flash_v2");
    one.options.heads = 1, one.options.gpu = "toy", one.options.dtype = "f32", one.options.dim = 4;
    one.options.br = one.options.bc = "4", one.options.seq = 16;
    const Figure small = timeline_figure(one);
    CHECK_THAT(small.of_all, !ContainsSubstring("neighbouring heads") && !ContainsSubstring("The same scale"));
    CHECK(small.panels[0].y.title == "SM");
    CHECK_THAT(said(io_vs_sram, request({"sram=16:32:+8"}, "flash_v2")),
               !ContainsSubstring("It turns at M") && !ContainsSubstring("level off where"));
    CHECK_THAT(said(io_vs_sram, request({"sram=4,8,16,256,512"}, "flash_v2")),
               ContainsSubstring("It turns at M") && ContainsSubstring("level off where"));
    CHECK_THAT(said(io_vs_block, request({}, "flash_v1")), ContainsSubstring("Br = min(Bc, d) = 64"));
    FigureRequest shorter = request({}, "flash_v1");
    shorter.options.br = "32";
    CHECK_THAT(said(io_vs_block, shorter), !ContainsSubstring("As in FlashAttention"));
    CHECK_THAT(said(io_vs_block, request({"bc=16,64"}, "flash_v1")),
               ContainsSubstring("not modelled at bc = 16: times"));
    CHECK_THAT(said(io_vs_block, request({"bc=64"}, "flash_v1")), !ContainsSubstring("not modelled at"));
    FigureRequest hidden = request({"seq=512"}, "flash_v2");
    hidden.options.window_left = 100, hidden.options.soft_cap = 20, hidden.options.bias = "qk";
    CHECK_THAT(said(io_vs_n, hidden), ContainsSubstring("f16, window 100 -, soft-cap 20, bias qk on H100"));
    FigureRequest of_paper = request({}, "flash_v1");
    of_paper.options.seq = 1024;  // the other sizes are the figure's
    CHECK_THAT(said(io_vs_block, of_paper), ContainsSubstring("Batch 64, 16 heads"));
    FigureRequest mixed = request();
    mixed.variants = {variant_from("flash_v2"), variant_from("flash_v2_backward:br=64,bc=64")};
    CHECK_THAT(said(roofline, mixed), ContainsSubstring("leaves, each run's own)"));
    CHECK_THAT(said(roofline, request()), ContainsSubstring("leaves, the same for all of these)"));
    CHECK_THAT(said(roofline, request({}, "flash_v2")), ContainsSubstring("leaves), over"));
}

TEST_CASE("words on axes have room beside each other, however uneven the sizes", "[figure]") {
    const std::vector<const char*> ranges = {"dim=16,24,32,40,48,56,64,128", "dim=256,64,16", "dim=8:256:+8",
                                             "dim=100,101,102,256"};
    for (const char* vary : ranges)
        for (const Page& page : {Page{}, Page{8.5, 8, true}}) {
            const Figure f = io_vs_d(request({vary}, "flash_v2:br=64,bc=64"));
            const FigureLayout l(f, page, {});
            const FigureAxis& x = f.panels[0].x;
            INFO(vary);
            const auto kept = l.ticks_with_room(x, true);
            REQUIRE_FALSE(kept.empty());
            const FigureLayout::Area a = l.panel(0);
            const auto place = [&](std::size_t k) {
                return std::log(x.ticks[k].at / *x.from) / std::log(*x.to / *x.from) * (a.right - a.left);
            };
            for (std::size_t k = 1; k < kept.size(); ++k) {
                const auto letters =
                    static_cast<double>(x.ticks[kept[k]].text.size() + x.ticks[kept[k - 1]].text.size());
                CHECK(place(kept[k]) - place(kept[k - 1]) > 0.5 * 9 * letters);
            }
            for (const FigurePoint& q : f.panels[0].series[0].points) CHECK((q.x > *x.from && q.x < *x.to));
        }
}

TEST_CASE("visits of tiles and trips of tensors are those of the run, for every algorithm", "[figure]") {
    for (const Algorithm& a : algorithms()) {
        if (a.computes != &computation::attention) continue;
        for (const bool causal : {false, true}) {
            INFO(a.name << (causal ? ", causal" : ""));
            Problem p;
            p.heads = 2, p.kv_heads = 1, p.seq_q = 200, p.seq_k = 300, p.dim = 32, p.dim_v = 16;
            if (causal) p.mask = Mask::causal();
            const Report r = count_and_time({&a, p, {64, 48}, gpu_preset("H100")});
            TileVisits visits(r);
            Mode mode = exact_mode;
            mode.only_wanted = true;
            Gpu gpu(r.experiment.gpu, mode, 1);
            gpu.listen(visits);
            run_program(gpu, a, p, {64, 48}, {});
            REQUIRE(visits.rows() == 4);
            REQUIRE(visits.cols() == 7);
            const Tiles keys(p.seq_k, 48);
            for (Index i = 0; i < visits.rows(); ++i) {
                const Tiles seen = p.visible_keys(keys, visits.row(i));
                for (Index j = 0; j < visits.cols(); ++j)
                    if (j < seen.count() || std::string(a.name) == "standard")
                        CHECK_FALSE(visits.visits(i, j).empty());
                    else
                        CHECK(visits.visits(i, j).empty());
            }
            for (const TensorReport& t : r.tensors) {
                if (t.extra || t.meaning == Meaning::statistic) continue;
                double read = 0, written = 0;
                const auto& trips = visits.trips(t.meaning);
                const bool by_row = trips.size() == 4,
                           of_values = t.meaning == Meaning::value || t.meaning == Meaning::output;
                for (std::size_t k = 0; k < trips.size(); ++k) {
                    const Index at = static_cast<Index>(k), size = by_row ? visits.row(at).size : visits.col(at).size;
                    const double bytes = static_cast<double>(size * (of_values ? p.dim_v : p.dim) * size_of(p.dtype));
                    read += trips[k].read * bytes, written += trips[k].written * bytes;
                }
                INFO(t.name);
                CHECK(read * 2 == Approx(t.traffic.read));  // two heads
                CHECK(written * 2 == Approx(t.traffic.write));
            }
        }
    }
}

TEST_CASE("flash_v1 goes down columns, flash_v2 along all rows at once; what a mask hides is skipped", "[figure]") {
    FigureRequest r;
    r.options.br = r.options.bc = "128", r.options.seq = 512, r.options.causal = true;
    const Figure f = loop_order(r);
    REQUIRE(f.panels.size() == 4);
    // The number on tile (i, j) of 4 x 4; "skipped" for a hatched tile.
    const auto number = [](const Panel& p, int i, int j) -> std::string {
        for (const Box& b : p.boxes)
            if (b.left < (j + 0.5) / 4 && b.right > (j + 0.5) / 4 && b.bottom < 1 - (i + 0.5) / 4 &&
                b.top > 1 - (i + 0.5) / 4)
                return b.hatched ? "skipped" : b.label;
        return "none";
    };
    const Panel &v1 = f.panels[0], &v2 = f.panels[1], &standard = f.panels[2];
    CHECK(number(v1, 0, 0) == "1");
    CHECK(number(v1, 3, 0) == "4");
    CHECK(number(v1, 1, 1) == "5");
    CHECK(number(v1, 3, 3) == "10");
    CHECK(number(v2, 1, 0) == "1");
    CHECK(number(v2, 3, 0) == "1");
    CHECK(number(v2, 2, 1) == number(v2, 3, 1));
    CHECK(number(v1, 0, 3) == "skipped");
    CHECK(number(v2, 0, 1) == "skipped");
    CHECK(number(standard, 0, 3) != "skipped");  // standard computes hidden scores, and masks them afterwards
    for (const Panel& p : f.panels) {
        double last = 0;
        for (const Box& b : p.boxes) last = std::max(last, b.colour < 0 ? b.shade : 0);
        CHECK(last == Approx(*p.shades->to));
    }
    CHECK(named(v2, "").look == Look::way);
    // A dot for each thread block: flash_v1 has one, flash_v2 one per row block.
    const auto dots = [](const Panel& p) {
        return std::count_if(p.series.begin(), p.series.end(), [](const Series& way) { return way.look == Look::way; });
    };
    CHECK(dots(v1) == 1);
    CHECK(dots(v2) == 4);
    CHECK_THAT(f.of_all, ContainsSubstring("Colours and numbers:") && ContainsSubstring("each panel has a scale"));
    FigureRequest many = r;
    many.variants = {variant_from("flash_v2")}, many.options.seq = 2048;
    CHECK_THAT(loop_order(many).of_all, ContainsSubstring("Colours: when") && !ContainsSubstring("each panel"));
    r.options.seq = 8192;
    CHECK_THROWS_WITH(loop_order(r), Catch::Contains("64 x 64 tiles are too many to be seen, 1,024 are the most"));
    r.variants.push_back(variant_from("softmax_safe"));
    CHECK_THROWS_WITH(loop_order(r), "plot loop-order softmax_safe: has no score matrix; try flash_v2");
}

TEST_CASE("on a narrow page panels stand below each other, and nothing leaves it", "[figure]") {
    const Figure f = io_vs_n(request({sanitized ? "seq=256:4k:x4" : "seq=1024:64k:x4"}));
    const std::vector<std::string> legend = {
        "a title in the legend that is longer than a column of a paper is wide, by far"};
    for (const auto& page : {Page{}, Page{8.5, 8, true}, Page{17.5, 8, false}, Page{8.5, 12, true}}) {
        const FigureLayout l(f, page, legend);
        const FigureLayout::Area first = l.panel(0), second = l.panel(1);
        INFO(l.width << " wide");
        CHECK((first.bottom > second.top) == (page.width_cm == 8.5));
        CHECK((first.right < second.left) == (page.width_cm != 8.5));
        for (const FigureLayout::Area& a : {first, second}) {
            CHECK(a.left > 0);
            CHECK(a.right > a.left);
            CHECK(a.right < l.width);
            CHECK(a.bottom > l.caption_at(0));
            CHECK(a.top < l.legend_top());
        }
        CHECK(l.title.empty() != page.caption);
        CHECK(l.caption.empty() != page.caption);
        if (page.width_cm) CHECK(l.width / l.units_per_inch() * 2.54 == Approx(*page.width_cm));
    }
}

TEST_CASE("every kind draws with one value, and refuses what it does not vary", "[figure]") {
    CHECK(io_vs_n(request({"seq=1024"})).panels[0].series[0].points.size() == 1);
    CHECK_THROWS_WITH(io_vs_n(request({"dim=64"})),
                      "--vary dim: this figure varies seq alone; try --vary seq=256:128k:x2");
    CHECK_THROWS_AS(figure_kind("io-vs-m"), UsageError);
    CHECK_THROWS_WITH(io_vs_n(request({"seq=1024"}, "flash_v2:br=4096,bc=4096")),
                      Catch::Contains("plot: nothing fits on chip: "));
}

TEST_CASE("the script has all of the figure, with what gnuplot and TeX would read in it quoted", "[figure]") {
    Figure f{
        "name", "A \"title\"\\", {{"50% & more", {"x_1"}, {"y", Scale::percent}}}, "Caption.", "tilescope plot name"};
    f.panels[0].series.push_back({"a \"series\"", Look::measured_line, 0, {{1, 2, "la\"bel"}, {3, 4}}});
    const std::string svg = as_gnuplot(f, Theme::light, Terminal::svg, "out.svg");
    for (const char* part : {"set output 'out.svg'", "'A \"title\"\\'", "'a \"series\"'", "1 2 \"la\\042bel\"", "3 4 ",
                             "tilescope plot name", "'%.0f%%'"}) {
        INFO(part);
        CHECK(svg.find(part) != std::string::npos);
    }
    const std::string tex = as_gnuplot(f, Theme::print, Terminal::tex, "out.tex");
    CHECK(tex.find("50\\% \\& more") != std::string::npos);
    CHECK(tex.find("x\\_1") != std::string::npos);
    CHECK(as_gnuplot(f, Theme::print, Terminal::pdf, "o", {8.5, 8, false}).find("'Caption.'") == std::string::npos);
    CHECK(as_gnuplot(f, Theme::print, Terminal::svg, "o", {8.5, 8, false}).find(" size 321,") != std::string::npos);
    CHECK(as_json(f).find("\"label\": \"la\\\"bel\"") != std::string::npos);
    CHECK(as_csv(f) ==
          "panel,series,x,y,x_to,y_to,shade,label,bar\n50% & more,\"a \"\"series\"\"\",1,2,,,,\"la\"\"bel\",\n"
          "50% & more,\"a \"\"series\"\"\",3,4,,,,,\n");
    CHECK(as_gnuplot(f, Theme::dark, Terminal::png, "o") != as_gnuplot(f, Theme::light, Terminal::png, "o"));
}
