// Mistakes of a tile program that would lead to wrong numbers are errors instead.
#include "core/machine/mistakes.hpp"

#include <memory>
#include <stdexcept>

#include "core/machine/gpu.hpp"
#include "core/machine/gpu_spec.hpp"
#include "core/machine/mode.hpp"
#include "core/machine/ops.hpp"
#include "core/machine/storage.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/harness.hpp"

using namespace tilescope;

namespace {

GpuSpec spec() {
    GpuSpec g;
    g.sram_per_sm = g.sram_per_block = g.registers_per_sm = 1 << 20;
    g.sms = g.max_blocks_per_sm = 1;
    return g;
}

/// Runs body(block, x, y) in a single thread block; x and y are tensors of 8 x 2 f32.
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

TEST_CASE("a loop over a part of what a graded axis sees is counted one by one, or refused", "[mistakes]") {
    const Tiles rows(8, 2, "i"), keys(8, 2, "j");
    const Seen seen = Seen(keys).and_before_end(0);  // row blocks see 1, 2, 3 and 4 tiles
    const auto read = [&](const Mode& mode, const Axis& axis, auto&& parts) {
        Gpu gpu(spec(), mode, 1);
        const Hbm x = gpu.add({"X", Role::input, Dtype::f32, 1, 8, 2, nullptr});
        gpu.launch("kernel", {axis}, [&](Block& b, Span i) {
            for (const Tiles& part : parts(seen(i))) b.uniform(part, [&](Span j) { Tile t = b.load(x, j); });
        });
        return gpu.total().hbm_read;
    };
    const auto whole = [](const Tiles& t) { return std::vector{t, t}; };  // twice
    const auto halves = [](const Tiles& t) { return std::vector{t.upto(t.count() / 2), t.from(t.count() / 2)}; };
    const Bytes once = 10 * 2 * 2 * 4;
    CHECK(read(count_mode, graded(rows, seen), whole) == 2 * once);
    CHECK(read(exact_mode, graded(rows, seen), halves) == once);
    CHECK(read(count_mode, each(rows), halves) == once);
    CHECK(contains(message_of<Misuse>([&] { read(count_mode, graded(rows, seen), halves); }),
                   "uniform goes over 2 of the 4 tiles that the graded axis sees here"));
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

TEST_CASE("an operation that cannot be says where it is", "[mistakes]") {
    Gpu gpu(spec(), exact_mode, 1);
    TensorInfo info{"X", Role::input, Dtype::f32, 1, 8, 2, nullptr};
    info.only_read = true;
    const Hbm x = gpu.add(info);
    const std::string here = std::to_string(__LINE__ + 1);
    const auto store = [&](Block& b, Span) { b.store(b.alloc_registers("t", 2, 2), x, {0, 2}); };
    const auto message = message_of<std::logic_error>([&] { gpu.launch("kernel", {uniform(1)}, store); });
    CHECK(contains(message, "store: X is an input, which is only read, at source line " + here + " of "));
    CHECK(contains(message, "mistakes_test.cpp"));
    const auto shapes = mistake<std::logic_error>([](Block& b, const Hbm& in, const Hbm&) {
        Tile s = b.load(in, {0, 4}), m = b.alloc_registers("m", 3, 1);
        row_max(b, m, s);
    });
    CHECK(contains(shapes, "the tiles' shapes do not match, at source line "));
    // A program's own exceptions come through unchanged.
    CHECK(mistake<std::out_of_range>([](Block&, const Hbm&, const Hbm&) { throw std::out_of_range("mine"); }) ==
          "mine");
}

TEST_CASE("what was not stored before has no value to load", "[mistakes][blank]") {
    const Mode mode = GENERATE(exact_mode, numeric_mode);
    const int threads = GENERATE(1, 4);
    const auto run = [&](const Axis& parts, auto&& body) {
        Gpu gpu(spec(), mode, threads);
        TensorInfo info{"S", Role::scratch, Dtype::f32, 2, 8, 6, nullptr};
        info.blank = true;
        const Hbm s = gpu.add(info);
        for (const Index launch : {0, 1})
            gpu.launch("kernel", {each(Tiles(2, 1)), parts},
                       [&](Block& b, Span slice, Span i) { body(b, s.of(slice), i, launch); });
    };
    const auto put = [](Block& b, const Hbm& s, Span rows, Span cols) {
        b.store(b.alloc_registers("t", rows.size, cols.size), s, rows, cols);
    };
    const Axis rows = each(Tiles(8, 2));
    // Stored by an earlier launch, in tiles of other sizes, or by the block itself: no error.
    CHECK_NOTHROW(run(rows, [&](Block& b, const Hbm& s, Span i, Index launch) {
        if (launch == 0) put(b, s, i, {0, 4}), put(b, s, {i.begin, 1}, {4, 2}), put(b, s, {i.begin + 1, 1}, {3, 3});
        if (launch == 1) Tile t = b.load(s, {0, 8});
        if (launch == 1) Tile t = b.load(s, {1, 3}, {2, 3});
    }));
    CHECK_NOTHROW(run(rows, [&](Block& b, const Hbm& s, Span i, Index) {
        put(b, s, i, {0, 6});
        Tile t = b.load(s, i);
    }));
    // Stored by a thread block that runs at the same time: an error, unless they take turns.
    const auto both = [&](Block& b, const Hbm& s, Span i, Index) {
        put(b, s, i, {0, 6});
        Tile t = b.load(s, {0, i.end()});
    };
    CHECK_NOTHROW(run(ordered(rows), both));
    const auto message = message_of<std::logic_error>([&] { run(rows, both); });
    CHECK(contains(message, "load: row 0, columns [0, 6) of slice "));
    CHECK(contains(message, " of S were not all stored before, by this thread block or an earlier launch, at source "));
    // One missing element is enough. reduce_add() reads, too.
    CHECK(contains(message_of<std::logic_error>([&] {
                       run(rows, [&](Block& b, const Hbm& s, Span i, Index launch) {
                           if (launch == 0) put(b, s, i, {0, i.begin == 4 ? 5 : 6});
                           if (launch == 1) Tile t = b.load(s, {0, 8});
                       });
                   }),
                   "load: row 4, columns [0, 6)"));
    CHECK(contains(message_of<std::logic_error>([&] {
                       run(rows, [&](Block& b, const Hbm& s, Span i, Index launch) {
                           if (launch == 1) b.reduce_add(b.alloc_registers("t", 2, 6), s, i);
                       });
                   }),
                   "reduce_add: row "));
}

TEST_CASE("counting tells where nothing at all was stored before", "[mistakes][blank]") {
    const auto run = [&](bool blank, bool loads, bool stores) {
        Gpu gpu(spec(), count_mode, 1);
        TensorInfo info{"S", Role::scratch, Dtype::f32, 1, 8, 6, nullptr};
        info.blank = blank;
        const Hbm s = gpu.add(info);
        gpu.launch("kernel", {uniform(Tiles(8, 2))}, [&](Block& b, Span i) {
            if (loads) Tile t = b.load(s, i);
            if (stores) b.store(b.alloc_registers("t", 2, 6), s, i);
        });
        return message_of<std::logic_error>(
            [&] { gpu.launch("later", {uniform(Tiles(8, 2))}, [&](Block& b, Span i) { Tile t = b.load(s, i); }); });
    };
    CHECK(contains(run(true, false, false), "load: nothing was stored in S before, at source line "));
    CHECK(run(true, false, true) == "(nothing was thrown)");
    CHECK(run(true, true, true) == "(nothing was thrown)");  // another thread block may have stored these rows first
    CHECK(run(false, true, false) == "(nothing was thrown)");
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

namespace {

/// Whether a program could read elements through a B, or set the cost of an operation.
template <class B>
concept OpensTheDoor = requires(B b) {
    b.charge(Counters{});
}
|| requires(B b) { b.w_; }
|| requires(B b, Tile& t) { b.contents(t); }
|| requires(B b) { &B::apply; };

}  // namespace

TEST_CASE("a tile program has no way to elements or prices", "[mistakes]") {
    static_assert(!OpensTheDoor<Block>);
    static_assert(!std::is_constructible_v<Block, Gpu&>);
    static_assert(!std::is_copy_constructible_v<Tile>);
    SUCCEED();
}

TEST_CASE("thread blocks that store to the same elements are refused", "[mistakes][race]") {
    const Mode mode = GENERATE(exact_mode, numeric_mode);
    const int threads = GENERATE(1, 4);
    const auto run = [&](auto&& store, Index blocks = 4) {
        Gpu gpu(spec(), mode, threads);
        const Hbm y = gpu.add({"Y", Role::output, Dtype::f32, 2, 8, 6, nullptr});
        gpu.launch("kernel", {each(Tiles(blocks, 1))}, [&](Block& b, Span i) { store(b, y, i.begin); });
    };
    const auto put = [](Block& b, const Hbm& y, Span rows, Span cols) {
        b.store(b.alloc_registers("t", rows.size, cols.size), y, rows, cols);
    };
    // Every block stores the whole tensor.
    const auto message = message_of<Race>([&] {
        run([&](Block& b, const Hbm& y, Index) {
            b.at(7);
            put(b, y, {0, 8}, {0, 6});
        });
    });
    CHECK(contains(message, "race in kernel"));
    CHECK(contains(message, "thread block 0 (pseudo-code line 7) and thread block 1 (line 7)"));
    CHECK(contains(message, "of Y"));
    // One shared element is enough, wherever it lies.
    CHECK_THROWS_AS(run([&](Block& b, const Hbm& y, Index i) {
                        put(b, y, {i, 1}, {0, 6});
                        if (i == 3) put(b, y, {0, 1}, {5, 1});
                    }),
                    Race);
    CHECK_THROWS_AS(run([&](Block& b, const Hbm& y, Index i) {
                        if (i == 0) put(b, y, {0, 8}, {2, 1});
                        if (i == 1) put(b, y, {1, 1}, {0, 2});
                        if (i == 2) put(b, y, {7, 1}, {0, 3});
                    }),
                    Race);
    // Block 0's wide store overlaps block 1's, although a narrow store of block 0 begins between them.
    CHECK_THROWS_AS(run([&](Block& b, const Hbm& y, Index i) {
                        if (i == 0) put(b, y, {0, 2}, {0, 5}), put(b, y, {0, 1}, {1, 1});
                        if (i == 1) put(b, y, {1, 1}, {3, 1});
                    }),
                    Race);
    // No race: stores that lie apart, in other slices, by one block twice, or in different launches.
    CHECK_NOTHROW(run([&](Block& b, const Hbm& y, Index i) {
        put(b, y, {2 * i, 2}, {0, 3});
        put(b, y, {2 * i, 1}, {0, 6});
        put(b, y, {2 * i + 1, 1}, {3, 3});
    }));
    CHECK_NOTHROW(run([&](Block& b, const Hbm& y, Index i) { put(b, y.slice(i), {0, 8}, {0, 6}); }, 2));
    Gpu gpu(spec(), mode, threads);
    const Hbm y = gpu.add({"Y", Role::output, Dtype::f32, 1, 2, 2, nullptr});
    for (int k = 0; k < 2; ++k)
        CHECK_NOTHROW(gpu.launch("kernel", {each(Tiles(2, 1))}, [&](Block& b, Span i) { put(b, y, i, {0, 2}); }));
}

TEST_CASE("thread blocks that take turns may store to the same elements, one after the other", "[race][threads]") {
    const Mode mode = GENERATE(exact_mode, numeric_mode);
    const int threads = GENERATE(1, 4);
    const auto run = [&](const Axis& slices, const Axis& turns, int at_once) {
        Gpu gpu(spec(), mode, at_once);
        const Hbm y =
            gpu.add(tilescope::testing::filled("Y", Role::output, Dtype::f32, 2, 1, 1, std::vector<float>(2)));
        gpu.launch("kernel", {slices, turns}, [&](Block& b, Span s, Span k) {
            Tile sum = b.load(y.slice(s.begin % 2), {0, 1}, Space::registers);
            const Tile term = b.alloc_registers("t", 1, 1, static_cast<float>(k.begin + 1));
            scale_rows(b, sum, term);
            add(b, sum, term);
            b.store(sum, y.slice(s.begin % 2), {0, 1});
        });
        return mode.data ? tilescope::testing::contents(gpu.tensors()[0]) : std::vector<float>();
    };
    const Tiles turns(9, 1);
    float expected = 0;  // ((0 x 1 + 1) 2 + 2) 3 + 3 ...: only this order gives the expected number
    for (int k = 1; k <= 9; ++k) expected = expected * static_cast<float>(k) + static_cast<float>(k);
    const std::vector<float> both = {expected, expected};
    CHECK(run(each(Tiles(2, 1)), ordered(each(turns)), threads) == (mode.data ? both : std::vector<float>()));
    // Along an axis that is not ordered, no block waits for another.
    CHECK_THROWS_AS(run(each(Tiles(3, 1)), ordered(each(turns)), threads), Race);
    // With data, threads that do not take turns would really race.
    CHECK_THROWS_AS(run(each(Tiles(2, 1)), each(turns), mode.data ? 1 : threads), Race);
}

TEST_CASE("thread blocks may add to the same elements, which nobody stores or loads", "[mistakes][race]") {
    const Mode mode = GENERATE(exact_mode, numeric_mode);
    const int threads = GENERATE(1, 4);
    const auto run = [&](auto&& also, Dtype dtype = Dtype::f32) {
        Gpu gpu(spec(), mode, threads);
        const Hbm y = gpu.add({"Y", Role::output, dtype, 1, 8, 6, nullptr});
        gpu.launch("kernel", {each(Tiles(8, 1))}, [&](Block& b, Span i) {
            b.at(7);
            b.reduce_add(b.alloc_registers("t", 8, 6), y, {0, 8});
            b.reduce_add(b.alloc_registers("t", 2, 6), y, {3, 2});
            b.at(8);
            also(b, y, i);
        });
    };
    CHECK_NOTHROW(run([](Block&, const Hbm&, Span) {}));
    const auto message = message_of<Race>([&] {
        run([](Block& b, const Hbm& y, Span i) {
            if (i.begin == 5) Tile t = b.load(y, {0, 1});
        });
    });
    CHECK(
        contains(message, "thread block 5 (pseudo-code line 8) loads from Y, and thread block 0 (line 7) adds to it"));
    CHECK_THROWS_AS(run([](Block& b, const Hbm& y, Span i) {
                        if (i.begin == 2) b.store(b.alloc_registers("t", 1, 6), y, {7, 1});
                    }),
                    Race);
    CHECK_THROWS_AS(run([](Block&, const Hbm&, Span) {}, Dtype::f16), std::logic_error);
}

TEST_CASE("what thread blocks add in HBM does not depend on threads", "[race][threads]") {
    constexpr Index blocks = 300;
    const std::vector<float> terms = tilescope::testing::random_floats(blocks * 4, 3);
    const auto sums = [&](int threads, Listener* listener) {
        Gpu gpu(spec(), numeric_mode, threads);
        if (listener) gpu.listen(*listener);
        const Hbm x = gpu.add(tilescope::testing::filled("X", Role::input, Dtype::f32, 1, blocks, 4, terms));
        const Hbm y =
            gpu.add(tilescope::testing::filled("Y", Role::output, Dtype::f32, 1, 1, 4, std::vector<float>{1, 2, 3, 4}));
        gpu.launch("kernel", {uniform(Tiles(blocks, 1))}, [&](Block& b, Span i) {
            b.reduce_add(b.load(x, i, Space::registers), y, {0, 1});
        });
        CHECK(gpu.total().hbm_reduce == blocks * 4 * 4);
        CHECK(gpu.total().hbm_write == 0);
        CHECK(gpu.total().hbm() == 2 * blocks * 4 * 4);
        CHECK((gpu.traffic(1) == Traffic{0, 0, blocks * 4 * 4}));
        return tilescope::testing::contents(gpu.tensors()[1]);
    };
    std::vector<float> expected = {1, 2, 3, 4};
    for (std::size_t k = 0; k < terms.size(); ++k) expected[k % 4] += terms[k];  // in the blocks' order
    tilescope::testing::Log log;
    CHECK(sums(1, &log) == expected);
    CHECK(log.of(Kind::store).back().data == std::vector<float>(terms.end() - 4, terms.end()));
    for (const int threads : {1, 2, 5}) CHECK(sums(threads, nullptr) == expected);
}

TEST_CASE("a graded range must cost in proportion to what it sees", "[mistakes][graded]") {
    const Tiles keys(20, 3, "j");
    const auto run = [&](auto&& extra) {
        Gpu gpu(spec(), exact_mode, 1);
        const Hbm x = gpu.add({"X", Role::input, Dtype::f32, 1, 20, 2, nullptr});
        const Seen seen = Seen(keys).and_before_end(5);
        gpu.launch("kernel", {graded(Tiles(8, 1, "i"), seen)}, [&](Block& b, Span i) {
            b.uniform(seen(i), [&](Span j) { Tile t = b.load(x, j); });
            extra(b, x, i);
        });
    };
    CHECK_NOTHROW(run([](Block&, const Hbm&, Span) {}));
    CHECK_NOTHROW(run([](Block& b, const Hbm& x, Span) { Tile t = b.load(x, {0, 5}); }));
    const auto message = message_of<BrokenPromise>([&] {
        run([](Block& b, const Hbm& x, Span i) {
            if (i.begin == 4) Tile t = b.load(x, {0, 1});
        });
    });
    CHECK(contains(message, "a promise of kernel: thread block 4"));
    CHECK(contains(message, "not in proportion to the tiles that they see"));
    CHECK_THROWS_AS(run([](Block& b, const Hbm& x, Span i) {
                        b.each(Tiles(i.begin * i.begin, 1), [&](Span) { Tile t = b.load(x, {0, 1}); });
                    }),
                    BrokenPromise);
}

TEST_CASE("counting a graded range gives what running it gives", "[graded]") {
    const Tiles rows(17, GENERATE(1, 2, 3, 5, 7, 17), "i"), keys(GENERATE(1, 20, 21), 3, "j");
    const Index shift = GENERATE(range(-24, 25));
    const int part = GENERATE(1, 2, 3);  // the range that a row block sees grows, shrinks, or moves
    CAPTURE(rows.tile_size(), keys.extent(), shift, part);
    Seen seen(keys);
    if (part & 1) seen = seen.and_before_end(shift);
    if (part & 2) seen = seen.and_after_begin(shift - (part == 3 ? 4 : 0));
    const auto count = [&](Mode mode) {
        Gpu gpu(spec(), mode, 1);
        const Hbm x = gpu.add({"X", Role::input, Dtype::f32, 1, 21, 2, nullptr});
        gpu.launch("axis", {uniform(3), graded(rows, seen)}, [&](Block& b, Span, Span i) {
            Tile a = b.load(x, {0, i.size});
            b.uniform(seen(i), [&](Span j) {
                Tile t = b.load(x, j);
                b.uniform(Tiles(4, 2), [&](Span) { exp(b, t); });
            });
            b.uniform(seen(i), [&](Span j) { Tile t = b.load(x, j); });
        });
        gpu.launch("loop", {uniform(2)}, [&](Block& b, Span) {
            b.graded(rows, seen, [&](Span i) {
                if (seen(i).count() == 0) return;
                Tile a = b.load(x, {0, i.size});
                b.uniform(seen(i), [&](Span j) { Tile t = b.load(x, j); });
            });
        });
        return gpu.total();
    };
    CHECK((count(count_mode) == count(exact_mode)));
}
