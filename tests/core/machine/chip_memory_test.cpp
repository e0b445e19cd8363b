#include "core/machine/chip_memory.hpp"

#include <optional>

#include "core/machine/mode.hpp"
#include "tests/support/harness.hpp"

using namespace tilescope;
using namespace tilescope::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Bytes in use after every event, and the ids of the new tiles.
struct Usage : Everything {
    struct Moment {
        Kind kind;
        TileId out;
        Bytes sram, registers;
        friend bool operator==(const Moment&, const Moment&) = default;
    };
    std::vector<Moment> moments;
    void heard(const Event& e, TileData) override {
        moments.push_back({e.kind(), e.out, e.sram_used, e.registers_used});
    }
};

}  // namespace

TEST_CASE("a program that fills the chip to the last byte runs", "[chip]") {
    const Mode mode = GENERATE(numeric_mode, count_mode, exact_mode);
    Gpu gpu(small_gpu(100, 48), mode, 1);
    in_block(gpu, [](Block& b) {
        Tile a = b.alloc("a", 5, 4, Space::sram);
        Tile c = b.alloc("c", 5, 2, Space::sram, Dtype::f16);
        Tile o = b.alloc_registers("o", 3, 4);
    });
    CHECK(gpu.peak(Space::sram) == 100);
    CHECK(gpu.peak(Space::registers) == 48);
}

TEST_CASE("one byte more than there is throws OutOfChipMemory, which says all about it", "[chip]") {
    const Mode mode = GENERATE(numeric_mode, count_mode, exact_mode);
    Gpu gpu(small_gpu(99, 1000), mode, 1);
    try {
        in_block(gpu, [](Block& b) {
            b.at(3);
            Tile r = b.alloc_registers("elsewhere", 2, 2);
            Tile a = b.alloc("a", 5, 4, Space::sram);
            { Tile gone = b.alloc("gone", 1, 1, Space::sram); }
            b.at(7);
            Tile c = b.alloc("c", 2, 5, Space::sram, Dtype::f16);
        });
        FAIL("it fitted");
    } catch (const OutOfChipMemory& e) {
        CHECK(e.space == Space::sram);
        CHECK(e.wanted.name == "c");
        CHECK(e.wanted.rows == 2);
        CHECK(e.wanted.cols == 5);
        CHECK(e.wanted.dtype == Dtype::f16);
        CHECK(e.wanted.bytes == 20);
        CHECK(e.used == 80);
        CHECK(e.capacity == 99);
        CHECK(e.missing() == 1);
        CHECK(e.line == 7);
        REQUIRE(e.live.size() == 1);
        CHECK(e.live[0].name == "a");
        CHECK(e.live[0].bytes == 80);
        CHECK(e.live[0].rows == 5);
        CHECK(e.live[0].cols == 4);
        const std::string what = e.what();
        CHECK_THAT(what, ContainsSubstring("c [2 x 5 f16]") && ContainsSubstring("SRAM") &&
                             ContainsSubstring("line 7") && ContainsSubstring("needs 20 B") &&
                             ContainsSubstring("80 of 99 B") && ContainsSubstring("1 B are missing"));
        CHECK(what.find('\n') == std::string::npos);
    }
}

TEST_CASE("registers have a limit of their own, and loads are refused like allocations", "[chip]") {
    Gpu gpu(small_gpu(1000, 40), exact_mode, 1);
    const Hbm x = gpu.add({"X", Role::input, Dtype::f16, 1, 4, 4, nullptr});
    try {
        in_block(gpu, [&](Block& b) {
            b.at(2);
            Tile shared = b.load(x, {0, 4});                  // 32 B of f16
            Tile fits = b.load(x, {0, 2}, Space::registers);  // 32 B of f32
            Tile more = b.load(x, {2, 1}, Space::registers);
        });
        FAIL("it fitted");
    } catch (const OutOfChipMemory& e) {
        CHECK(e.space == Space::registers);
        CHECK(e.wanted.name == "X");
        CHECK(e.wanted.dtype == Dtype::f32);
        CHECK(e.wanted.bytes == 16);
        CHECK(e.used == 32);
        CHECK(e.missing() == 8);
        CHECK(e.line == 2);
        REQUIRE(e.live.size() == 1);
        CHECK(e.live[0].bytes == 32);
    }
    CHECK(gpu.total().hbm_read == 32 + 16);  // the refused load moved nothing
}

TEST_CASE("a tile gives its bytes back at the end of its scope", "[chip]") {
    Gpu gpu(small_gpu(64, 64), GENERATE(numeric_mode, exact_mode), 1);
    Usage usage;
    gpu.listen(usage);
    in_block(gpu, [](Block& b) {
        Tile a = b.alloc("a", 4, 2, Space::sram);
        for (int k = 0; k < 2; ++k) Tile t = b.alloc("t", 4, 2, Space::sram);
        Tile r = b.alloc_registers("r", 4, 4);
    });
    const std::vector<Usage::Moment> expected{
        {Kind::launch, no_tile, 0, 0}, {Kind::block_begin, no_tile, 0, 0}, {Kind::alloc, 0, 32, 0},
        {Kind::alloc, 1, 64, 0},       {Kind::release, 1, 32, 0},          {Kind::alloc, 2, 64, 0},
        {Kind::release, 2, 32, 0},     {Kind::alloc, 3, 32, 64},           {Kind::release, 3, 32, 0},
        {Kind::release, 0, 0, 0},      {Kind::block_end, no_tile, 0, 0}};
    CHECK((usage.moments == expected));
}

TEST_CASE("a moved tile is charged and released once", "[chip]") {
    Gpu gpu(small_gpu(64, 64), numeric_mode, 1);
    Usage usage;
    gpu.listen(usage);
    in_block(gpu, [](Block& b) {
        Tile a = b.alloc("a", 4, 2, Space::sram);
        std::optional<Tile> kept(std::move(a));
        CHECK(kept->bytes() == 32);
        CHECK(kept->rows() == 4);
        kept.reset();
        Tile whole = b.alloc("whole", 4, 4, Space::sram);  // fits only if a is gone
    });
    Index released = 0;
    for (const Usage::Moment& m : usage.moments) released += m.kind == Kind::release;
    CHECK(released == 2);
    CHECK(usage.moments.back().sram == 0);
}

TEST_CASE("an exception releases what is on chip", "[chip]") {
    Gpu gpu(small_gpu(64, 64), numeric_mode, 1);
    const auto full = [](Block& b) { Tile t = b.alloc("t", 4, 4, Space::sram); };
    CHECK_THROWS_AS(in_block(gpu,
                             [](Block& b) {
                                 Tile a = b.alloc("a", 4, 3, Space::sram);
                                 throw std::runtime_error("halfway");
                             }),
                    std::runtime_error);
    CHECK_NOTHROW(in_block(gpu, full));
    CHECK_THROWS_AS(in_block(gpu,
                             [](Block& b) {
                                 Tile a = b.alloc("a", 4, 3, Space::sram);
                                 Tile c = b.alloc("c", 4, 2, Space::sram);
                             }),
                    OutOfChipMemory);
    CHECK_NOTHROW(in_block(gpu, full));
    // Also within a block that catches the exception and goes on.
    CHECK_NOTHROW(in_block(gpu, [](Block& b) {
        try {
            Tile a = b.alloc("a", 4, 3, Space::sram);
            Tile c = b.alloc("c", 4, 2, Space::sram);
        } catch (const OutOfChipMemory&) {
        }
        Tile t = b.alloc("t", 4, 4, Space::sram);
    }));
}

TEST_CASE("every thread block starts with an empty chip and numbers its tiles anew", "[chip]") {
    Gpu gpu(small_gpu(16, 16), exact_mode, 1);
    Usage usage;
    gpu.listen(usage);
    gpu.launch("test", {each(Tiles(3, 1))}, [](Block& b, Span) { Tile t = b.alloc("t", 2, 2, Space::sram); });
    Index first = 0;
    for (const Usage::Moment& m : usage.moments) first += m.kind == Kind::alloc && m.out == 0 && m.sram == 16;
    CHECK(first == 3);
}

TEST_CASE("the peak is the most that one block held at a time, over all launches", "[chip]") {
    const Mode mode = GENERATE(numeric_mode, count_mode, exact_mode);
    const int threads = GENERATE(1, 3);
    Gpu gpu(small_gpu(1000, 1000), mode, threads);
    CHECK(gpu.peak(Space::sram) == 0);
    gpu.launch("first", {each(Tiles(5, 1))}, [](Block& b, Span i) {
        { Tile t = b.alloc("t", 2 + i.begin, 2, Space::sram); }
        Tile u = b.alloc("u", 1, 5, Space::sram);
        Tile r = b.alloc_registers("r", 1, 2);
    });
    CHECK(gpu.peak(Space::sram) == 48);
    CHECK(gpu.peak(Space::registers) == 8);
    gpu.launch("second", {uniform(3)}, [](Block& b, Span) {
        Tile t = b.alloc("t", 2, 2, Space::sram);
        Tile r = b.alloc_registers("r", 1, 3);
    });
    CHECK(gpu.peak(Space::sram) == 48);
    CHECK(gpu.peak(Space::registers) == 12);
}

TEST_CASE("slots keep the contents of live tiles apart", "[chip]") {
    ChipMemory chip({1000, 1000}, true);
    const TileInfo small{"small", 1, 2, Dtype::f32, Space::sram}, large{"large", 4, 4, Dtype::f32, Space::sram};
    const auto a = chip.take(small, 1), b = chip.take(small, 1);
    std::fill_n(chip.data(a), 2, 1.0f);
    std::fill_n(chip.data(b), 2, 2.0f);
    chip.give(a);
    const auto c = chip.take(large, 1);  // may take the slot of a, which is too small for c
    std::fill_n(chip.data(c), 16, 3.0f);
    const auto d = chip.take(small, 1);
    std::fill_n(chip.data(d), 2, 4.0f);
    CHECK(chip.data(b)[0] == 2.0f);
    CHECK(chip.data(b)[1] == 2.0f);
    CHECK(chip.data(c)[15] == 3.0f);
    CHECK(chip.id(a) == chip.id(c));  // the slot was reused ...
    CHECK(chip.id(c) == 2);           // ... but not its number
    CHECK(chip.id(d) == 3);
    CHECK(chip.used(Space::sram) == 8 + 64 + 8);
    CHECK(chip.peak(Space::sram) == 80);
    CHECK(chip.used(Space::registers) == 0);
}
