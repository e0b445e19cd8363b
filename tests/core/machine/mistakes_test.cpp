// Mistakes of a tile program that would make wrong numbers are errors instead.
#include <memory>
#include <stdexcept>

#include "core/machine/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;

namespace {

GpuSpec spec() {
    GpuSpec g;
    g.sram_per_sm = g.sram_per_block = g.registers_per_sm = 1 << 20;
    g.sms = g.max_blocks_per_sm = 1;
    return g;
}

/// Runs body(block, x, y) in a single thread block, with x and y tensors of 8 x 2 f32.
template <class F>
void run(F&& body, Mode mode = exact_mode) {
    Gpu gpu(spec(), mode, 1);
    const Hbm x = gpu.add({"X", Role::input, Dtype::f32, 1, 8, 2, nullptr});
    const Hbm y = gpu.add({"Y", Role::output, Dtype::f32, 1, 8, 2, nullptr});
    gpu.launch("kernel", {uniform(1)}, [&](Block& b, Span) { body(b, x, y); });
}

template <class Error, class F>
std::string mistake(F&& body) {
    return message_of<Error>([&] { run(body); });
}

}  // namespace

TEST_CASE("a uniform loop may not move another tensor, even as many bytes of it", "[mistakes]") {
    const auto message = mistake<BrokenPromise>([](Block& b, const Hbm& x, const Hbm& y) {
        b.uniform(Tiles(8, 2), [&](Span j) { Tile t = b.load(j.begin == 4 ? y : x, j); });
    });
    CHECK(contains(message, "tile 2 moves other tensors"));
    CHECK(contains(message, "mistakes_test.cpp"));
}

TEST_CASE("a uniform loop may not make tiles of other sizes", "[mistakes]") {
    const auto message = mistake<BrokenPromise>([](Block& b, const Hbm&, const Hbm&) {
        b.uniform(Tiles(8, 2), [&](Span j) { Tile t = b.alloc_registers("t", 1 + j.begin, 1); });
    });
    CHECK(contains(message, "tile 1 moves other tensors, or makes tiles of other sizes"));
}

TEST_CASE("a uniform axis may not move another tensor", "[mistakes]") {
    Gpu gpu(spec(), exact_mode, 1);
    const Hbm x = gpu.add({"X", Role::input, Dtype::f32, 1, 8, 2, nullptr});
    const Hbm y = gpu.add({"Y", Role::input, Dtype::f32, 1, 8, 2, nullptr});
    const auto message = message_of<BrokenPromise>([&] {
        gpu.launch("kernel", {uniform(Tiles(8, 2))}, [&](Block& b, Span i) { Tile t = b.load(i.begin ? y : x, i); });
    });
    CHECK(contains(message, "thread block 1 moves other tensors"));
}

TEST_CASE("a load or store outside of its tensor is refused", "[mistakes]") {
    for (const Span rows : {Span{-1, 2}, Span{7, 2}, Span{0, 9}, Span{0, -1}}) {
        CHECK(contains(mistake<std::logic_error>([&](Block& b, const Hbm& x, const Hbm&) { Tile t = b.load(x, rows); }),
                       "are not all in X"));
    }
    CHECK(contains(mistake<std::logic_error>([](Block& b, const Hbm& x, const Hbm&) {
                       Tile t = b.load(x, {0, 2}, {1, 2});
                   }),
                   "columns [1, 3)"));
    CHECK(contains(mistake<std::logic_error>([](Block& b, const Hbm& x, const Hbm&) {
                       Tile t = b.load(x.slice(1), {0, 2});
                   }),
                   "slice 1"));
    CHECK(contains(mistake<std::logic_error>([](Block& b, const Hbm&, const Hbm& y) {
                       b.store(b.alloc_registers("t", 2, 2), y, {7, 2});
                   }),
                   "store"));
}

TEST_CASE("tiles of other shapes than an operation needs are refused", "[mistakes]") {
    run([](Block& b, const Hbm&, const Hbm&) {
        Tile s = b.alloc_registers("s", 4, 3), column = b.alloc_registers("m", 4, 1),
             wrong = b.alloc_registers("w", 3, 1);
        CHECK_THROWS_AS(row_max(b, wrong, s), std::logic_error);
        CHECK_THROWS_AS(update_row_max(b, wrong, s), std::logic_error);
        CHECK_THROWS_AS(row_sum(b, wrong, s), std::logic_error);
        CHECK_THROWS_AS(update_row_sum(b, s, column), std::logic_error);
        CHECK_THROWS_AS(exp_minus(b, s, wrong), std::logic_error);
        CHECK_THROWS_AS(scale_rows(b, s, wrong), std::logic_error);
        CHECK_THROWS_AS(divide_rows(b, s, wrong), std::logic_error);
        CHECK_THROWS_AS(add(b, s, column), std::logic_error);
        CHECK_THROWS_AS(update_max(b, s, column), std::logic_error);
        CHECK_THROWS_AS(copy(b, s, column), std::logic_error);
        CHECK_THROWS_AS(add_log(b, column, wrong), std::logic_error);
    });
}

TEST_CASE("data of another shape or type is refused", "[mistakes]") {
    Gpu gpu(spec(), numeric_mode, 1);
    const auto f16 = std::make_shared<Storage>(Dtype::f16, 1, 8, 2);
    CHECK_THROWS_AS(gpu.add({"X", Role::input, Dtype::f32, 1, 8, 2, f16}), std::logic_error);
    CHECK_THROWS_AS(gpu.add({"X", Role::input, Dtype::f16, 1, 4, 2, f16}), std::logic_error);
    CHECK_NOTHROW(gpu.add({"X", Role::input, Dtype::f16, 1, 8, 2, f16}));
}
