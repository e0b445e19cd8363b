#include "show/words/warps_text.hpp"

#include "core/text/words.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

Experiment experiment(const char* name, Tiling t, Index dim = 64, Index seq = 1024, const char* gpu = "H100") {
    Problem p;
    p.heads = p.kv_heads = 1, p.seq_q = p.seq_k = seq, p.dim = p.dim_v = dim;
    return {find_algorithm(name), p, t, gpu_preset(gpu)};
}

std::string all_of(const WarpsText& t) { return text::join(t.before, "\n") + "\n" + text::join(t.after, "\n"); }

bool says(const WarpsText& t, const std::string& words) { return all_of(t).find(words) != std::string::npos; }

using Cells = std::vector<std::string>;

}  // namespace

TEST_CASE("both ways side by side, exact for a tile", "[warps]") {
    const WarpsText t = warps_text(experiment("flash_v2", {128, 128}));
    CHECK(t.heading == "Warps: bytes between shared memory and registers (computed by closed forms, not counted)");
    CHECK(t.table == std::vector<Cells>{{"a tile of 128 x 128", "split K", "split Q"},
                                        {"Q, read", "65,536 B", "16,384 B"},
                                        {"K and V, read", "32,768 B", "131,072 B"},
                                        {"maxima and sums, exchanged", "20,480 B", "0 B"},
                                        {"partial O, exchanged", "262,144 B", "0 B"},
                                        {"together", "380,928 B", "147,456 B"},
                                        {"bytes per score", "23.3", "9"},
                                        {"the whole run", "24.4 MB", "9.44 MB"}});
    CHECK(says(t, "The 4 warps of a thread block can divide a tile in two ways."));
    CHECK(says(t, "Split K: a warp has 32 of the 128 keys and all rows."));
    CHECK(says(t, "Split Q: a warp has 32 of the 128 rows and all keys."));
    CHECK(says(t, "FlashAttention-2's released kernel (tiles of 128 x 128, 4 warps) has split Q."));
    CHECK(says(t, "Split Q moves fewer bytes at this tile: split K moves 2.58 times as many, and waits at a barrier"));
    CHECK(says(t, "they are even at Bc = 3.38 Br."));
    CHECK(says(t, "At Br 128 they are even at Bc 432."));
    CHECK(says(t, "At Bc 128 they are even at Br 37.9, but split Q needs Br 64, and wins from there on."));
    CHECK(says(t, "it is neither SM traffic nor HBM"));
    CHECK(says(t, "Not FlashAttention-3's for Hopper"));
    CHECK_FALSE(says(t, "an element has 4 B"));
}

TEST_CASE("a short and wide tile turns the verdict round", "[warps]") {
    const WarpsText t = warps_text(experiment("flash_v2", {64, 256}));
    CHECK(
        says(t, "Split K moves fewer bytes at this tile: split Q moves 1.13 times as many, though without a barrier."));
    CHECK(says(t, "At Br 64 they are even at Bc 216. At Bc 256 they are even at Br 75.9."));
    CHECK(says(warps_text(experiment("flash_v2", {128, 432})), "Both move as many bytes at this tile"));
}

TEST_CASE("FlashAttention-1's tiles have no rows for split Q", "[warps]") {
    const WarpsText t = warps_text(experiment("flash_v1", {16, 256}));
    REQUIRE(t.table.size() == 8);
    CHECK(t.table[2] == Cells{"K and V, read", "in registers", "-"});
    CHECK(t.table[4] == Cells{"partial O, exchanged", "32,768 B", "-"});
    CHECK(t.table[5] == Cells{"together", "43,520 B", "-"});
    CHECK(t.table[6] == Cells{"bytes per score", "10.6", "-"});
    CHECK(says(t,
               "FlashAttention-1's released kernel (tiles of 16 x 256, 4 warps) has split K. It keeps K_j and V_j in "
               "registers while row blocks pass by (128 registers of a thread)"));
    CHECK(says(t,
               "Split Q is impossible at this tile: mma.m16n8k16 takes 16 rows at a time, so 4 warps need 64, and it "
               "has 16."));
    CHECK(says(t, "At Bc 256 they are even at Br 101.1; split Q is possible from Br 64 on."));
    CHECK_FALSE(says(t, "fewer bytes at this tile"));
    // K and V that do not fit in a thread's registers are read again.
    const WarpsText wide = warps_text(experiment("flash_v1", {16, 256}, 128));
    CHECK(wide.table[2][1] == "131,072 B");
    CHECK(says(wide, "At this tile they would take 256 registers of a thread, which has 255"));
}

TEST_CASE("what is not possible is said, and not added up", "[warps]") {
    const WarpsText many = warps_text(experiment("flash_v2", {128, 128}), 16);
    CHECK(many.table.empty());
    CHECK(says(many,
               "Split K is impossible at this tile: mma.m16n8k16 takes 16 keys at a time, so 16 warps need 256, and "
               "it has 128."));
    CHECK(says(many, "Split Q is impossible at this tile"));
    CHECK(says(many, "(tiles of 128 x 128, 4 warps)"));
    CHECK(says(warps_text(experiment("flash_v2", {4, 128}, 64, 4)),
               "A kernel has so few rows in a larger tile, in which some warps have none."));
    const WarpsText least = warps_text(experiment("flash_v2", {4, 4}, 4, 8, "toy"));
    CHECK(least.table.empty());
    CHECK(says(least, "FlashAttention-2's released kernel (4 warps) has split Q."));
    const WarpsText alone = warps_text(experiment("flash_v2", {128, 128}), 1);
    CHECK(alone.before.empty());
    CHECK(alone.table.empty());
    CHECK(says(alone, "One warp has the whole tile"));
}

TEST_CASE("shares that do not divide are said to be the largest; f32 is no released kernel's", "[warps]") {
    Experiment e = experiment("flash_v2", {102, 128});
    e.problem.dtype = Dtype::f32;
    const WarpsText t = warps_text(e);
    CHECK(says(t, "a warp has up to 32 of the 102 rows"));
    CHECK(says(t, "The released kernels take f16 and bf16; here an element has 4 B."));
}

TEST_CASE("backward passes say what their warps exchange; others say nothing", "[warps]") {
    const WarpsText first = warps_text(experiment("flash_v1_backward", {16, 256}));
    CHECK(says(first, "released backward kernel (8 warps) has split K: each warp has a part of the keys."));
    CHECK(says(first, "8 partial dQ of 16 x 64 f32, 32,768 B, in shared memory"));
    CHECK(says(warps_text(experiment("flash_v1_backward", {16, 256}), 1), "One warp has the whole tile"));
    const WarpsText four = warps_text(experiment("flash_v1_backward", {16, 256}), 4);
    CHECK(says(four, "(8 warps) has split K"));
    CHECK(says(four, "4 partial dQ of 16 x 64 f32, 16,384 B"));
    const WarpsText second = warps_text(experiment("flash_v2_backward", {128, 128}));
    CHECK(says(second, "(8 warps) has no split K: warps divide what a product makes, never what it sums over"));
    CHECK(says(second, "2 of 128 x 128, 65,536 B a tile."));
    CHECK(first.table.empty());
    const WarpsText none = warps_text(experiment("standard", {128, 128}), 4);
    CHECK(none.heading.empty());
    CHECK(all_of(none) == "\n");
}
