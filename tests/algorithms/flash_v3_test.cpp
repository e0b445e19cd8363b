// FlashAttention-3's program has the counts and the bits of FlashAttention-2, whatever its lanes do. Its named kernels
// have the tiles, the shared memory and the registers that their sources, or counters, say.
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithms/attention/flash_v3/named.hpp"
#include "core/machine/event.hpp"
#include "core/machine/launch_info.hpp"
#include "core/machine/out_of_chip_memory.hpp"
#include "core/record/profile.hpp"
#include "lab/flags/request.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "lab/report/experiment_json.hpp"
#include "lab/run/experiment.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using Catch::Matchers::ContainsSubstring;

namespace {

const Algorithm& v3() { return *find_algorithm("flash_v3"); }

/// How many values a knob has: those of --warpgroups and --slots as far as they are told apart here.
Index values_of(const Knob& k) { return k.names.empty() ? std::min<Index>(k.most, 6) : std::ssize(k.names); }

/// Every value of every knob that is no size, alone and beside `overlap` off; and each named kernel without overlap.
std::vector<Tiling> all_knobs() {
    std::vector<Tiling> all = {{}};
    for (const Knob& k : v3().knobs)
        for (Index value = 1; !k.is_size && value <= values_of(k); ++value)
            for (const Index overlap : {Index{0}, off}) {
                Tiling t;
                t.overlap = overlap, t.*k.value = value;
                all.push_back(t);
            }
    return all;
}

/// Any value of each knob.
Tiling random_knobs(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Tiling t;
    for (const Knob& k : v3().knobs)
        if (!k.is_size) t.*k.value = static_cast<Index>(random() % static_cast<std::uint64_t>(values_of(k) + 1));
    return t;
}

Case with_knobs(Case c, Tiling knobs) {
    knobs.br = c.tiling.br, knobs.bc = c.tiling.bc;
    c.tiling = knobs;
    return c;
}

std::string knobs_text(const Tiling& t) {
    std::string words;
    for (const Knob& k : v3().knobs)
        if (t.*k.value > 0) words += std::string(" --") + k.name + ' ' + k.text(t);
    return words;
}

/// What the two programs store, bit by bit, and the counts of both, in every mode.
void check_like_v2(const Case& given, const std::vector<Tiling>& knobs) {
    const Algorithm& v2 = *find_algorithm("flash_v2");
    const Case c = as_supported(v3(), given);
    const Inputs in = inputs_for(v3(), c);
    const Outcome two = run(v2, c, roomy(), numeric_mode, in);
    const Prediction predicted = v3().predict(c.problem, c.tiling, roomy());
    for (const Tiling& each : knobs) {
        const Case with = with_knobs(c, each);
        INFO(to_string(v3(), with) << knobs_text(each));
        Profile by_line, folded_by_line;
        const Outcome folded = run(v3(), with, roomy(), count_mode, {}, 1, &folded_by_line);
        const Outcome numeric = run(v3(), with, roomy(), numeric_mode, in, 1, &by_line);
        CHECK(difference(folded, numeric) == "");
        CHECK(difference(folded, run(v3(), with, roomy(), exact_mode)) == "");
        for (const char* name : {"O", "LSE"}) {
            INFO(name);
            if (!same_bits(*numeric.tensor(name).data, *two.tensor(name).data)) FAIL("other bits than flash_v2's");
        }
        const Counters &three = folded.counters, &before = two.counters;
        CHECK(three.matmul_flops == before.matmul_flops);
        CHECK(three.exps == before.exps);
        CHECK(three.other_flops == before.other_flops);
        CHECK(three.hbm_read == predicted.hbm_read);
        CHECK(three.hbm_write == predicted.hbm_write);
        CHECK(three.exps == predicted.exps);
        CHECK(three.other_flops == predicted.other_flops);
        for (const char* name : {"Q", "K", "V", "O", "LSE"}) CHECK(folded.moved(name) == two.moved(name));
        for (const auto& [number, line] : by_line.lines()) {
            INFO("line " << number);
            REQUIRE(folded_by_line.lines().count(number) == 1);
            const LineProfile& same = folded_by_line.lines().at(number);
            CHECK(line.visits == same.visits);
            CHECK(line.cost == same.cost);
            CHECK(line.traffic == same.traffic);
        }
        CHECK(by_line.lines().size() == folded_by_line.lines().size());
    }
}

Problem layer(Index dim, Mask mask, Index dim_v = 0, Index seq = 4096) {
    Problem p;
    p.seq_q = p.seq_k = seq;
    p.dim = dim, p.dim_v = dim_v > 0 ? dim_v : dim;
    p.mask = std::move(mask);
    return p;
}

Tiling named(const char* like, const Problem& p) {
    Tiling t;
    for (const char* const name : flash_v3::like_names) {
        ++t.like;
        if (name == std::string(like)) return flash_v3::complete(p, t, gpu_preset("H100"));
    }
    FAIL("no kernel is called " << like);
    return t;
}

Outcome count_of(const Problem& p, const Tiling& t, const GpuSpec& gpu = gpu_preset("H100")) {
    return run(v3(), {p, t, 1}, gpu, count_mode);
}

constexpr Bytes kib = 1024;

}  // namespace

TEST_CASE("FlashAttention-3 has FlashAttention-2's bits and counts, whatever its knobs", "[flash_v3]") {
    for (const Case& c : corner_cases()) check_like_v2(c, all_knobs());
}

TEST_CASE("FlashAttention-3 has FlashAttention-2's bits and counts under any mask and scores", "[flash_v3]") {
    for (std::uint64_t seed = 1; seed <= seeds(60); ++seed)
        for (const Case& c : {random_case(seed), window_case(seed), pattern_case(seed), score_case(seed)})
            check_like_v2(c, {random_knobs(seed), random_knobs(seed + 1'000'000)});
}

TEST_CASE("FlashAttention-3 has FlashAttention-2's bits where logits are large", "[flash_v3][numbers]") {
    for (Case c : corner_cases()) {
        c.problem.scale = 1000;
        check_like_v2(c, {{}, random_knobs(c.seed)});
    }
}

TEST_CASE("knobs that are open are filled in, and given ones stay", "[flash_v3]") {
    for (std::uint64_t seed = 1; seed <= seeds(300); ++seed) {
        const Case c = random_case(seed);
        const Tiling given = seed % 2 ? with_knobs(c, random_knobs(seed)).tiling : random_knobs(seed);
        const GpuSpec gpu = gpu_preset("H100");
        const Tiling whole = flash_v3::complete(c.problem, given, gpu);
        CAPTURE(seed);
        for (const Knob& k : v3().knobs) {
            INFO(k.name);
            const bool alone = k.value == &Tiling::turns && whole.warpgroups == 1;  // nobody to take turns with
            if (given.*k.value > 0 && !alone) CHECK(whole.*k.value == given.*k.value);
            if (k.value != &Tiling::like) CHECK(whole.*k.value > 0);
        }
        CHECK(flash_v3::complete(c.problem, whole, gpu) == whole);
    }
}

TEST_CASE("tiles of FlashAttention-3 are those of hopper/tile_size.h", "[flash_v3]") {
    // Dao-AILab/flash-attention at 0251105a, for 16-bit types: head dimension, rows x keys without a mask, causal, and
    // under a window.
    struct Row {
        Index dim, dim_v;
        Tiling full, causal, window;
    };
    for (const Row& r :
         {Row{64, 64, {192, 192}, {192, 128}, {192, 160}}, Row{96, 96, {192, 144}, {192, 144}, {192, 128}},
          Row{128, 128, {128, 176}, {128, 128}, {128, 128}}, Row{192, 128, {128, 128}, {128, 128}, {128, 96}},
          Row{192, 192, {128, 112}, {128, 112}, {128, 96}}, Row{256, 256, {128, 80}, {128, 80}, {128, 64}}})
        for (const auto& [mask, tile] :
             {std::pair{Mask(), r.full}, {Mask::causal(), r.causal}, {Mask::window(512, 512), r.window}}) {
            const Problem p = layer(r.dim, mask, r.dim_v);
            const Tiling t = named("fa3-2025", p);
            INFO("d = " << r.dim << ", dv = " << r.dim_v << ", mask " << mask.name());
            CHECK(t.br == tile.br);
            CHECK(t.bc == tile.bc);
            CHECK(t.warpgroups == (tile.br == 192 ? 3 : 2));
            CHECK(t.turns == (r.dim <= 128 ? on : off));
            CHECK(t.overlap == (r.dim <= 64 && mask == Mask::window(512, 512) ? off : on));
            CHECK(t.cluster == (r.dim >= 128 && !mask.hides() ? 2 : 1));
            CHECK(t.persistent == (mask.hides() ? by_counter : dealt));
            CHECK(fits(v3(), p, t, gpu_preset("H100")));
            // It is what is chosen where nothing is given, and nothing has to be made smaller.
            CHECK(choose_tiling(v3(), p, {}, gpu_preset("H100")) == flash_v3::complete(p, {}, gpu_preset("H100")));
        }
    CHECK(named("fa3-2024", layer(64, {})).bc == 128);
    // A cluster shares K and V where row blocks are even in number.
    CHECK(named("fa3-2025", layer(128, {}, 128, 128 * 7)).cluster == 1);
    CHECK(named("fa3-2025", layer(128, {}, 128, 128 * 8)).cluster == 2);
}

TEST_CASE("FlashAttention-3's tiles take the shared memory and registers of its search", "[flash_v3]") {
    // hopper/sm90_config_search.py, run: KiB of Q, two K and two V; registers of a thread for S, P in 16 bits, and O.
    struct Fit {
        Index dim, br, bc, groups;
        Bytes sram;
        Index registers;
    };
    for (const Fit& f : {Fit{128, 128, 176, 2, 208 * kib, 88 + 44 + 64}, Fit{128, 128, 192, 2, 224 * kib, 208},
                         Fit{64, 128, 192, 2, 112 * kib, 176}, Fit{256, 128, 80, 2, 224 * kib, 188}}) {
        Tiling t{f.br, f.bc};
        const Problem p = layer(f.dim, {});
        t.like = 1;  // fa3-2024: P stays in registers
        t = flash_v3::complete(p, t, gpu_preset("H100"));
        CAPTURE(f.dim, f.br, f.bc);
        CHECK(t.warpgroups == f.groups);
        CHECK(count_of(p, t).sram_peak == f.sram);
        // With as many registers as there are, lanes take what their tiles need: S, P and O, and three numbers a row.
        const Bytes used = count_of(p, t, roomy()).register_peak - 3 * f.br * 4;
        CHECK(used == f.registers * f.groups * 128 * 4);
    }
    // d = 64 without a mask, 192 x 192: 120 KiB, and P beside it, so that S and O are all that a thread keeps: 128.
    const Problem p = layer(64, {});
    const Tiling t = named("fa3-2025", p);
    CHECK(count_of(p, t).sram_peak == 120 * kib + 192 * 192 * 2);
    CHECK(count_of(p, t, roomy()).register_peak - 3 * 192 * 4 == 128 * 3 * 128 * 4);
}

TEST_CASE("a lane of FlashAttention-3 has the registers that setmaxnreg gives it", "[flash_v3]") {
    // flash_fwd_kernel_sm90.h: consumers 240 (2 warpgroups) and 160 (3), producer 24 and 32; 1 warpgroup: 256, of which
    // a thread uses 255, and 56. All of them fit into the 64 Ki registers of an SM.
    struct Heard : Listener {
        std::map<std::string, LaneSpec> lanes;
        void on(const Event& e, TileData) override {
            if (e.lane) lanes[e.lane->name] = e.lane->spec;
        }
    };
    const Problem p = layer(64, {}, 64, 512);
    for (const auto& [groups, consumer, producer] :
         {std::tuple<Index, Index, Index>{1, 255, 56}, {2, 240, 24}, {3, 160, 32}}) {
        Tiling t{64 * groups, 64};
        t.warpgroups = groups;
        Heard heard;
        const Outcome o = run(v3(), {p, t, 1}, gpu_preset("H100"), count_mode, {}, 1, &heard);
        CAPTURE(groups);
        CHECK(heard.lanes["consumer"].warps == 4 * groups);
        CHECK(heard.lanes["consumer"].registers_per_thread == consumer);
        CHECK(heard.lanes["consumer"].turns == (groups > 1));
        CHECK(heard.lanes["producer"].warps == 4);
        CHECK(heard.lanes["producer"].registers_per_thread == producer);
        CHECK(o.register_peak == 128 * 4 * (groups * consumer + producer));
        CHECK(o.register_peak <= 256 * kib);
    }
}

TEST_CASE("cuDNN's and FlexAttention's kernels take the shared memory that was counted", "[flash_v3]") {
    // On an H100, 2026-11-27: cuDNN 9.19 asks for 134,144 B (d = 64) and 232,448 B (d = 128), 3 KiB of them for other
    // things than tiles. FlexAttention of PyTorch 2.11: 114,688 B (d = 64) and 131,072 B (d = 128).
    const auto sram = [](const char* like, Index dim) {
        const Problem p = layer(dim, {});
        return count_of(p, named(like, p)).sram_peak;
    };
    CHECK(sram("cudnn-9.19", 64) == 134'144 - 3 * kib);
    CHECK(sram("cudnn-9.19", 128) == 232'448 - 3 * kib);
    CHECK(sram("flex", 64) == 114'688);
    CHECK(sram("flex", 128) == 131'072);
    // From d = 192 on two whole tiles: counted, two waits for bytes and two releases a step.
    CHECK(sram("cudnn-9.19", 256) == (64 + 2 * 64) * kib);
    CHECK(sram("cudnn-9.19", 192) == (48 + 2 * 48) * kib);
}

TEST_CASE("the counted traffic of cuDNN's kernel is the program's", "[flash_v3]") {
    // 16 heads, N = 4096, d = 128: 1,090,539,648 B crossed the SMs' boundary, of which 20,480 are none of the tiles'.
    Problem p = layer(128, {});
    p.heads = p.kv_heads = 16;
    const Outcome o = count_of(p, named("cudnn-9.19", p));
    CHECK(o.moved("Q").read + o.moved("K").read + o.moved("V").read == 1'090'519'040);
}

TEST_CASE("named kernels fit on an H100 for every head dimension", "[flash_v3]") {
    const GpuSpec gpu = gpu_preset("H100");
    for (const Index dim : {64, 80, 96, 128, 192, 256})
        for (const Mask& mask : {Mask(), Mask::causal(), Mask::window(256, 256)})
            for (Index like = 1; like <= std::ssize(flash_v3::like_names); ++like)
                for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
                    Problem p = layer(dim, mask);
                    p.dtype = dtype;
                    Wish wish;
                    wish.tiling.like = like;
                    const Tiling t = choose_tiling(v3(), p, wish, gpu);
                    Tiling own = {.like = like};
                    own = flash_v3::complete(p, own, gpu);
                    INFO("d = " << dim << ", mask " << mask.name() << ", " << flash_v3::like_names[like - 1]);
                    CHECK(t.like == like);
                    CHECK(fits(v3(), p, t, gpu));
                    // Triton's and FlexAttention's are described up to d = 128; beyond, tiles are made smaller.
                    if (dim <= 128 || like <= 3) CHECK(t == own);
                }
}

TEST_CASE("it is known who does a line of FlashAttention-3, and what is in flight there", "[flash_v3]") {
    using Names = std::set<std::string>;
    struct Line {
        std::uint16_t number;
        Names lanes, in_flight;
    };
    const Problem p = layer(64, {}, 64, 512);
    const auto check = [&](Tiling t, const std::vector<Line>& expected) {
        t.br = t.bc = 64, t.like = 1;  // fa3-2024: P stays in registers
        for (const Mode mode : {count_mode, exact_mode}) {
            Profile profile;
            run(v3(), {p, t, 1}, gpu_preset("H100"), mode, {}, 1, &profile);
            for (const Line& line : expected) {
                CAPTURE(line.number, mode.fold);
                CHECK(profile.lines().at(line.number).lanes == line.lanes);
                CHECK(profile.lines().at(line.number).in_flight == line.in_flight);
            }
            CHECK(profile.lanes().size() == (t.specialised == off ? 1 : 2));
        }
    };
    const Names producer{"producer"}, consumer{"consumer"};
    // The softmax of a tile, line 13, runs while P V of the tile before is in flight.
    check({}, {{3, producer, {"Q"}},
               {5, producer, {"K"}},
               {6, producer, {"V"}},
               {11, consumer, {"S"}},
               {12, consumer, {"O", "S"}},
               {13, consumer, {"O"}},
               {14, consumer, {}},
               {17, consumer, {}}});
    Tiling serial;
    serial.overlap = off;
    check(serial, {{5, producer, {"K"}}, {11, consumer, {"S"}}, {13, consumer, {}}, {12, consumer, {}}});
    serial.specialised = off;
    check(serial, {{5, consumer, {"K"}}, {6, consumer, {"V"}}, {13, consumer, {}}});
    Profile none;
    run(*find_algorithm("flash_v2"), {p, {64, 64}, 1}, roomy(), count_mode, {}, 1, &none);
    CHECK(none.lanes().empty());
    for (const auto& [number, line] : none.lines()) CHECK((line.lanes.empty() && line.in_flight.empty()));
}

TEST_CASE("an experiment with roles is written and read, and its flags ask for it again", "[flash_v3]") {
    for (std::uint64_t seed = 1; seed <= seeds(100); ++seed) {
        Experiment e{&v3(), layer(128, {}), random_knobs(seed), gpu_preset("H100")};
        e.tiling.br = 64, e.tiling.bc = 32;
        e.tiling = completed(e.tiling, v3(), e.problem, e.gpu);
        CAPTURE(seed);
        CHECK(experiment_from(to_json(e), "experiment.json").tiling == e.tiling);
        Options o;
        set_flag(o, "br", "64"), set_flag(o, "bc", "32");
        for (const Knob& k : v3().knobs)
            if (!k.is_size && e.tiling.*k.value > 0) set_flag(o, k.name, k.text(e.tiling));
        CHECK(experiment_of(v3(), resolve(o, v3())).tiling == e.tiling);
        for (const Knob& k : v3().knobs)
            if (!k.is_size) set_flag(o, k.name, "auto");
        CHECK(o.roles.empty());
    }
    nlohmann::ordered_json wrong = to_json(Experiment{&v3(), layer(64, {}), {64, 64}, gpu_preset("H100")});
    wrong["tiling"]["turns"] = "sometimes";
    CHECK_THAT(message_of<UsageError>([&] { experiment_from(wrong, "experiment.json"); }),
               ContainsSubstring("turns: sometimes is none of off or on"));
}

TEST_CASE("a choice by name is found by its name", "[flash_v3]") {
    for (const Knob& k : v3().knobs) {
        for (Index value = 1; value <= std::ssize(k.names); ++value) {
            Tiling t;
            t.*k.value = value;
            CHECK(k.value_of(k.text(t)) == value);
        }
        CHECK(k.value_of("sometimes") == std::nullopt);
    }
}

TEST_CASE("where a ring or a lane does not fit, the message names it, and says what fits", "[flash_v3]") {
    const GpuSpec gpu = gpu_preset("H100");
    const Problem p = layer(128, {});
    const auto refusal = [&](const Tiling& given) {
        const Tiling whole = completed(given, v3(), p, gpu);
        try {
            count_of(p, whole);
        } catch (const OutOfChipMemory& e) {
            return explain(e, v3(), p, whole, gpu, given);
        }
        return std::string("it fits");
    };
    Tiling ring{128, 176};
    ring.slots = 12;
    CHECK_THAT(refusal(ring), ContainsSubstring("--slots 12") && ContainsSubstring("this fits: ") &&
                                  ContainsSubstring("K ring [1056 x 128 f16]") && ContainsSubstring("does not fit"));
    Tiling lane{256, 128};
    lane.warpgroups = 2;
    CHECK_THAT(refusal(lane), ContainsSubstring("lane consumer has 245760 B") && ContainsSubstring("this fits: "));
}
