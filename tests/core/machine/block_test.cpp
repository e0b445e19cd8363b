#include "core/machine/block.hpp"

#include "core/machine/mode.hpp"
#include "tests/support/harness.hpp"

using namespace tilescope;
using namespace tilescope::testing;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a load moves the bytes of its region, and of valid rows only", "[block]") {
    const Mode mode = GENERATE(numeric_mode, exact_mode);
    Gpu gpu(small_gpu(), mode, 1);
    Log log;
    gpu.listen(log);
    const Hbm x = gpu.add({"X", Role::input, Dtype::f16, 2, 10, 6, nullptr});
    const Hbm y = gpu.add({"Y", Role::output, Dtype::f32, 2, 10, 6, nullptr});
    in_block(gpu, [&](Block& b) {
        b.at(3);
        b.uniform(Tiles(10, 4), [&](Span i) {
            Tile t = b.load(x.slice(1), i);
            CHECK(t.dtype() == Dtype::f16);
            CHECK(t.rows() == i.size);
        });
        Tile r = b.load(x, {2, 3}, {1, 4}, Space::registers);
        CHECK(r.dtype() == Dtype::f32);
        b.store(r, y.slice(1), {7, 3}, {2, 4});
    });
    const auto loads = log.of(Kind::load);
    REQUIRE(loads.size() == 4);
    const Bytes rows[] = {4, 4, 2};
    for (std::size_t k = 0; k < 3; ++k) {
        const Event& e = loads[k].event;
        CHECK(e.line == 3);
        CHECK(loads[k].tile == "X");
        CHECK((e.region == Region{0, 1, {static_cast<Index>(4 * k), rows[k]}, {0, 6}}));
        CHECK(difference(e.cost, {.hbm_read = rows[k] * 12, .sram_write = rows[k] * 12}) == "");
        CHECK(e.sram_used == rows[k] * 12);
    }
    CHECK(difference(loads[3].event.cost, {.hbm_read = 24, .register_write = 48}) == "");
    CHECK((loads[3].event.region == Region{0, 0, {2, 3}, {1, 4}}));
    CHECK(loads[3].event.registers_used == 48);
    const auto stores = log.of(Kind::store);
    REQUIRE(stores.size() == 1);
    CHECK(difference(stores[0].event.cost, {.hbm_write = 48, .register_read = 48}) == "");
    CHECK((stores[0].event.region == Region{1, 1, {7, 3}, {2, 4}}));
    CHECK((gpu.traffic(0) == Traffic{120 + 24, 0}));
    CHECK((gpu.traffic(1) == Traffic{0, 48}));
    CHECK(gpu.total().hbm() == 192);
}

TEST_CASE("load, reload and store move the right elements", "[block]") {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    const auto values = random_floats(2 * 10 * 6, 1);
    const Hbm x = gpu.add(filled("X", Role::input, Dtype::f32, 2, 10, 6, values));
    const Hbm y = gpu.add({"Y", Role::output, Dtype::f32, 2, 10, 6, nullptr});
    in_block(gpu, [&](Block& b) {
        Tile t = b.load(x.slice(1), {2, 3}, {1, 4});
        b.store(t, y.slice(0), {5, 3}, {2, 4});
        b.reload(t, x.slice(0), {7, 3}, {0, 4});
        b.store(t, y.slice(1), {0, 3}, {1, 4});
    });
    std::vector<float> expected(120, not_a_number);
    const auto at = [](Index s, Index r, Index c) { return static_cast<std::size_t>((s * 10 + r) * 6 + c); };
    for (Index r = 0; r < 3; ++r)
        for (Index c = 0; c < 4; ++c) {
            expected[at(0, 5 + r, 2 + c)] = values[at(1, 2 + r, 1 + c)];
            expected[at(1, r, 1 + c)] = values[at(0, 7 + r, c)];
        }
    const auto got = contents(gpu.tensors()[1]);
    for (std::size_t k = 0; k < 120; ++k)
        if (!(got[k] == expected[k] || (std::isnan(got[k]) && std::isnan(expected[k])))) FAIL("element " << k);
}

TEST_CASE("reload and store insist on the tile's shape", "[block]") {
    Gpu gpu(small_gpu(), GENERATE(numeric_mode, count_mode), 1);
    const Hbm x = gpu.add({"X", Role::input, Dtype::f32, 1, 10, 6, nullptr});
    in_block(gpu, [&](Block& b) {
        Tile t = b.load(x, {0, 4});
        CHECK_THROWS_WITH(b.reload(t, x, {8, 2}, {0, 6}), ContainsSubstring("X is 4 x 6 where 2 x 6"));
        CHECK_THROWS_AS(b.reload(t, x, {0, 4}, {0, 5}), std::logic_error);
        CHECK_THROWS_AS(b.store(t, x, {0, 5}), std::logic_error);
        CHECK_THROWS_AS(b.store(t, x, {0, 4}, {1, 5}), std::logic_error);
    });
    CHECK(gpu.total().hbm() == 96);
}

TEST_CASE("alloc fills its tile and costs nothing", "[block]") {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    Log log;
    gpu.listen(log);
    in_block(gpu, [&](Block& b) {
        { Tile dirty = b.alloc("dirty", 2, 3, Space::sram, Dtype::f32, 7); }
        Tile zero = b.alloc("zero", 2, 2, Space::sram);
        Tile low = b.alloc_registers("low", 3, 1, -infinity);
        Tile half = b.alloc("half", 1, 2, Space::sram, Dtype::f16, 0.1f);
    });
    const auto allocs = log.of(Kind::alloc);
    REQUIRE(allocs.size() == 4);
    CHECK(same_bits(allocs[1].data, std::vector<float>(4, 0.0f)));
    CHECK(same_bits(allocs[2].data, std::vector<float>(3, -infinity)));
    CHECK(same_bits(allocs[3].data, std::vector<float>(2, 0x1.998p-4f)));
    CHECK(difference(gpu.total(), {.launches = 1, .thread_blocks = 1}) == "");
}

TEST_CASE("a store rounds to the tensor's type and reports what is stored", "[block]") {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    Log log;
    gpu.listen(log);
    const Hbm x = add(gpu, "X", Matrix(1, 3, {0.1f, 1 + 0x1p-12f, 70000.0f}));
    const Hbm h = gpu.add({"H", Role::output, Dtype::f16, 1, 1, 3, nullptr});
    in_block(gpu, [&](Block& b) {
        Tile t = b.load(x, {0, 1});
        b.store(t, h, {0, 1});
        b.store(t, x, {0, 1});
    });
    const std::vector<float> rounded{0x1.998p-4f, 1.0f, infinity};
    CHECK(same_bits(contents(gpu.tensors()[1]), rounded));
    CHECK(same_bits(log.of(Kind::store).at(0).data, rounded));
    CHECK(same_bits(log.of(Kind::store).at(1).data, std::vector<float>{0.1f, 1 + 0x1p-12f, 70000.0f}));
    CHECK(log.of(Kind::store).at(0).event.cost.hbm_write == 6);
    CHECK(log.of(Kind::store).at(1).event.cost.hbm_write == 12);
}

TEST_CASE("whatever is written to a narrow tile is rounded", "[block]") {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    Log log;
    gpu.listen(log);
    const float fine = 1 + 0x1p-12f;
    const Hbm x = add(gpu, "X", Matrix(1, 1, fine)), h = add(gpu, "H", Matrix(1, 1, 1.0f), Dtype::f16);
    in_block(gpu, [&](Block& b) {
        Tile wide = b.load(x, {0, 1});
        Tile narrow = b.alloc("narrow", 1, 1, Space::sram, Dtype::f16);
        copy(b, narrow, wide);
        b.reload(narrow, x, {0, 1}, {0, 1});
        Tile sum = b.alloc("sum", 1, 1, Space::registers, Dtype::bf16, 256);
        add(b, sum, narrow);
        Tile one = b.load(h, {0, 1});
        Tile acc = b.alloc("acc", 1, 1, Space::registers, Dtype::f16, 2048);
        b.matmul(acc, one, one, Trans::none);
    });
    for (const Log::Entry& e : log.all) {
        if (e.event.kind() == Kind::release || e.tile == "X" || e.tile == "H" || e.event.kind() == Kind::alloc)
            continue;
        CAPTURE(e.event.operation->name, e.tile);
        CHECK(e.data.at(0) == (e.tile == "narrow" ? 1.0f : e.tile == "sum" ? 256.0f : 2048.0f));
    }
}

TEST_CASE("matmul has its price", "[block][matmul]") {
    const Mode mode = GENERATE(numeric_mode, exact_mode);
    struct Shape {
        Index rows, cols;
    };
    struct Case {
        Trans trans;
        Shape a, b;
    };
    for (const Case& k :
         {Case{Trans::none, {3, 5}, {5, 4}}, Case{Trans::a, {5, 3}, {5, 4}}, Case{Trans::b, {3, 5}, {4, 5}}}) {
        Gpu gpu(small_gpu(), mode, 1);
        Log log;
        gpu.listen(log);
        in_block(gpu, [&](Block& b) {
            Tile acc = b.alloc_registers("acc", 3, 4);
            Tile left = b.alloc("left", k.a.rows, k.a.cols, Space::sram, Dtype::f16);
            Tile right = b.alloc("right", k.b.rows, k.b.cols, Space::sram, Dtype::f16);
            b.at(9);
            b.matmul(acc, left, right, k.trans);
        });
        const auto products = log.of(Kind::product);
        REQUIRE(products.size() == 1);
        const Event& e = products[0].event;
        CHECK(difference(e.cost,
                         {.sram_read = 30 + 40, .register_read = 48, .register_write = 48, .matmul_flops = 120}) == "");
        CHECK(e.line == 9);
        CHECK(e.out == 0);
        CHECK(e.a() == 1);
        CHECK(e.b() == 2);
        CHECK(products[0].tile == "acc");
    }
}

TEST_CASE("matmul computes what a plain loop computes", "[block][matmul]") {
    const Trans trans = GENERATE(Trans::none, Trans::a, Trans::b);
    const auto dtype = GENERATE(Dtype::f32, Dtype::f16);
    const Index sizes[] = {1, 2, 5, 8, 33};
    for (const Index m : sizes)
        for (const Index n : sizes)
            for (const Index k : sizes) {
                const bool ta = trans == Trans::a, tb = trans == Trans::b;
                // Small integers: every order of summation gives the same, exact sum.
                const auto integers = [](Index rows, Index cols, unsigned seed) {
                    Matrix x = random_matrix(rows, cols, seed);
                    for (float& v : x.x) v = std::round(3 * v);
                    return x;
                };
                const Matrix a = ta ? integers(k, m, 1) : integers(m, k, 1), c = integers(m, n, 3);
                const Matrix b = tb ? integers(n, k, 2) : integers(k, n, 2);
                Gpu gpu(small_gpu(), numeric_mode, 1);
                const Hbm x = add(gpu, "A", a, dtype), y = add(gpu, "B", b, dtype), z = add(gpu, "C", c);
                in_block(gpu, [&](Block& block) {
                    Tile l = block.load(x, {0, a.rows}), r = block.load(y, {0, b.rows});
                    Tile acc = block.load(z, {0, m}, Space::registers);
                    block.matmul(acc, l, r, trans, 0.5f);
                    block.store(acc, z, {0, m});
                });
                const auto dot = [&](Index i, Index j) {
                    double sum = 0;
                    for (Index q = 0; q < k; ++q) sum += (ta ? a(q, i) : a(i, q)) * (tb ? b(j, q) : b(q, j));
                    return c(i, j) + 0.5 * sum;
                };
                CAPTURE(m, n, k);
                CHECK(mistakes({m, n, contents(gpu.tensors()[2])}, dot) == 0);
            }
}

TEST_CASE("a product has factors of its own, for all rows or for some of them", "[block][matmul]") {
    const Trans trans = GENERATE(Trans::none, Trans::a, Trans::b);
    const auto stairs = GENERATE(Stairs{1, 0}, Stairs{2, 1}, Stairs{7, 0});
    const Matrix a(5, 5, std::vector<float>(25, 2)), c(5, 5, 1.0f);
    const Matrix f(5, 1, std::vector<float>{1, 2, 4, 8, 16});
    const Index some = stairs(4) + 1;
    for (const bool counts : {false, true}) {
        Gpu gpu(small_gpu(), counts ? count_mode : numeric_mode, 1);
        const Hbm x = add(gpu, "A", a), y = add(gpu, "F", f), z = add(gpu, "C", c);
        in_block(gpu, [&](Block& block) {
            Tile l = block.load(x, {0, 5}), acc = block.load(z, {0, 5}, Space::registers);
            const Tile factors = block.load(y, {0, some}, Space::registers);
            Product by(0.5f, &factors);
            by.stairs = stairs;
            block.matmul(acc, l, l, trans, by);
            block.store(acc, z, {0, 5});
            by.stairs = {1, some};
            if (some > 1) CHECK_THROWS_AS(block.matmul(acc, l, l, trans, by), std::logic_error);
        });
        CHECK(gpu.total().matmul_flops == 250);
        CHECK(gpu.total().other_flops == 0);
        if (!counts)
            CHECK(mistakes({5, 5, contents(gpu.tensors()[2])},
                           [&](Index r, Index) { return 1 + 10 * f(stairs(r), 0); }) == 0);
    }
}

TEST_CASE("matmul carries infinities and NaN to the rows they belong to", "[block][matmul]") {
    Matrix a(3, 2, 1.0f), b(2, 3, 1.0f);
    a(1, 0) = -infinity;
    a(2, 1) = not_a_number;
    Gpu gpu(small_gpu(), numeric_mode, 1);
    const Hbm x = add(gpu, "A", a), y = add(gpu, "B", b), z = add(gpu, "C", Matrix(3, 3));
    in_block(gpu, [&](Block& block) {
        Tile l = block.load(x, {0, 3}), r = block.load(y, {0, 2}), acc = block.alloc_registers("acc", 3, 3);
        block.matmul(acc, l, r, Trans::none);
        block.store(acc, z, {0, 3});
    });
    CHECK(mistakes({3, 3, contents(gpu.tensors()[2])}, [](Index r, Index) {
              return r == 0 ? 2.0f : r == 1 ? -infinity : not_a_number;
          }) == 0);
}

TEST_CASE("f32 operands of a product are rounded to the other's narrower type, and stay as they are",
          "[block][matmul]") {
    const float fine = 1 + 0x1p-9f;  // f16 keeps it, bf16 does not
    const Dtype dtype = GENERATE(Dtype::f32, Dtype::f16, Dtype::bf16);
    const bool left = GENERATE(true, false);
    Gpu gpu(small_gpu(), numeric_mode, 1);
    const float p = fine + 0x1p-12f;  // neither keeps it
    const Hbm x = add(gpu, "A", Matrix(1, 1, p)), y = add(gpu, "B", Matrix(1, 1, 4096.0f), dtype);
    const Hbm z = add(gpu, "C", Matrix(1, 2));
    in_block(gpu, [&](Block& b) {
        Tile wide = b.load(x, {0, 1}, Space::registers), narrow = b.load(y, {0, 1});
        Tile acc = b.alloc_registers("acc", 1, 1);
        b.matmul(acc, left ? wide : narrow, left ? narrow : wide, Trans::none);
        b.store(acc, z, {0, 1}, {0, 1});
        b.store(wide, z, {0, 1}, {1, 1});
    });
    const float seen = dtype == Dtype::f32 ? p : dtype == Dtype::f16 ? fine : 1.0f;
    CHECK(same_bits(contents(gpu.tensors()[2]), std::vector<float>{4096 * seen, p}));
}

TEST_CASE("matmul insists on shapes that match", "[block][matmul]") {
    Gpu gpu(small_gpu(), GENERATE(numeric_mode, count_mode), 1);
    in_block(gpu, [](Block& b) {
        Tile a = b.alloc_registers("a", 3, 5), c = b.alloc_registers("c", 5, 4), acc = b.alloc_registers("acc", 3, 4);
        CHECK_NOTHROW(b.matmul(acc, a, c, Trans::none));
        CHECK_THROWS_WITH(b.matmul(acc, a, c, Trans::b), ContainsSubstring("acc [3 x 4] += a [3 x 5] c [5 x 4]"));
        CHECK_THROWS_AS(b.matmul(acc, a, c, Trans::a), std::logic_error);
        CHECK_THROWS_AS(b.matmul(acc, c, a, Trans::none), std::logic_error);
        CHECK_THROWS_AS(b.matmul(a, a, c, Trans::none), std::logic_error);
    });
    CHECK(gpu.total().matmul_flops == 120);
}

TEST_CASE("loops run their tiles in order, folded ones one of each kind", "[block]") {
    const Mode mode = GENERATE(numeric_mode, exact_mode, count_mode);
    Gpu gpu(small_gpu(), mode, 1);
    std::vector<Span> uniform_seen, each_seen, even_seen, empty_seen;
    in_block(gpu, [&](Block& b) {
        b.uniform(Tiles(10, 4), [&](Span s) { uniform_seen.push_back(s); });
        b.uniform(Tiles(8, 4), [&](Span s) { even_seen.push_back(s); });
        b.uniform(Tiles(0, 4), [&](Span s) { empty_seen.push_back(s); });
        b.each(Tiles(10, 4).from(1), [&](Span s) { each_seen.push_back(s); });
    });
    const std::vector<Span> all{{0, 4}, {4, 4}, {8, 2}}, one_of_each{{0, 4}, {8, 2}};
    CHECK((uniform_seen == (mode.fold ? one_of_each : all)));
    CHECK((even_seen == (mode.fold ? std::vector<Span>{{0, 4}} : std::vector<Span>{{0, 4}, {4, 4}})));
    CHECK(empty_seen.empty());
    CHECK((each_seen == std::vector<Span>{{4, 4}, {8, 2}}));
}
