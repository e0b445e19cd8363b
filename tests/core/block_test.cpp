#include "core/block.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "tests/catch.hpp"
#include "tests/core/programs.hpp"

using namespace tilescope;
using Catch::Matchers::Contains;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// The events of operations, with the contents they reported.
struct Log : Listener {
    struct Entry {
        Event event;
        std::string tile;
        std::vector<float> data;
    };
    std::vector<Entry> all;

    void on(const Event& e, TileData data) override {
        if (e.op < Op::alloc) return;
        all.push_back({e, e.tile ? e.tile->name : "", {data.begin(), data.end()}});
        all.back().event.tile = nullptr;
    }
    std::vector<Entry> of(Op op) const {
        std::vector<Entry> out;
        for (const Entry& e : all)
            if (e.event.op == op) out.push_back(e);
        return out;
    }
};

template <class F>
void in_block(Gpu& gpu, F body) {
    gpu.launch("test", {each(Tiles(1, 1))}, [&](Block& b, Span) { body(b); });
}

/// Row-major numbers; the tests compute what is expected of an operation on them, in double, in plain loops.
struct Matrix {
    Index rows, cols;
    std::vector<float> x;

    Matrix(Index r, Index c, float fill = 0) : rows(r), cols(c), x(static_cast<std::size_t>(r * c), fill) {}
    Matrix(Index r, Index c, std::vector<float> v) : rows(r), cols(c), x(std::move(v)) {}
    float& operator()(Index r, Index c) { return x[static_cast<std::size_t>(r * cols + c)]; }
    float operator()(Index r, Index c) const { return x[static_cast<std::size_t>(r * cols + c)]; }
};

Matrix random_matrix(Index rows, Index cols, unsigned seed) { return {rows, cols, random_floats(rows * cols, seed)}; }

Hbm add(Gpu& gpu, const char* name, const Matrix& m, Dtype dtype = Dtype::f32) {
    return gpu.add(filled(name, Role::input, dtype, 1, m.rows, m.cols, m.x));
}

/// What `op(Block&, Tile& out, const Tile& in)` makes of `out`.
using Operation = std::function<void(Block&, Tile&, const Tile&)>;
Matrix result(const Operation& op, const Matrix& out, const Matrix& in, Space space = Space::registers) {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    Log log;
    gpu.listen(log);
    const Hbm x = add(gpu, "out", out), y = add(gpu, "in", in);
    in_block(gpu, [&](Block& b) {
        Tile a = b.load(x, {0, out.rows}, space);
        Tile c = b.load(y, {0, in.rows}, space);
        op(b, a, c);
        b.store(a, x, {0, out.rows});
    });
    const std::vector<float> stored = contents(gpu.tensors()[0]);
    CHECK(same_bits(log.of(Op::store).at(0).data, stored));
    return {out.rows, out.cols, stored};
}

/// Equal as far as f32 arithmetic can be: NaN with NaN, infinities exactly, the rest to 1 in 10^6.
bool close(float got, double expected) {
    if (std::isnan(expected)) return std::isnan(got);
    const auto rounded = static_cast<float>(expected);
    if (std::isinf(rounded) || std::isinf(got)) return got == rounded;
    return std::abs(got - expected) <= 1e-6 * std::abs(expected) + 1e-44;
}

int mistakes(const Matrix& got, const std::function<double(Index, Index)>& expected) {
    int bad = 0;
    for (Index r = 0; r < got.rows; ++r)
        for (Index c = 0; c < got.cols; ++c)
            if (const double e = expected(r, c); !close(got(r, c), e)) {
                if (bad++ == 0) UNSCOPED_INFO("at " << r << ", " << c << ": " << got(r, c) << " instead of " << e);
            }
    return bad;
}

/// Random numbers, with large ones, -inf and, in a row of its own, nothing but -inf.
Matrix extreme_matrix(Index rows, Index cols, unsigned seed) {
    Matrix m = random_matrix(rows, cols, seed);
    for (Index r = 0; r < rows; ++r) {
        if (r % 4 == 1) m(r, (r * 7) % cols) = -infinity;
        if (r % 4 == 2)
            for (Index c = 0; c < cols; ++c) m(r, c) = c % 2 ? m(r, c) * 1e30f : 300 * m(r, c);
        if (r % 8 == 3)
            for (Index c = 0; c < cols; ++c) m(r, c) = -infinity;
    }
    return m;
}

struct Shape {
    Index rows, cols;
};
const std::vector<Shape> shapes{{1, 1}, {1, 7}, {9, 1}, {2, 3}, {8, 4}, {13, 33}, {16, 64}};

double exp_of(float x) {
    const double e = std::exp(static_cast<double>(x));
    return e < static_cast<double>(std::numeric_limits<float>::min()) ? 0 : e;  // no subnormal results
}

}  // namespace

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
    const auto loads = log.of(Op::load);
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
    const auto stores = log.of(Op::store);
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
        CHECK_THROWS_WITH(b.reload(t, x, {8, 2}, {0, 6}), Contains("X is 4 x 6 where 2 x 6"));
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
    const auto allocs = log.of(Op::alloc);
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
    CHECK(same_bits(log.of(Op::store).at(0).data, rounded));
    CHECK(same_bits(log.of(Op::store).at(1).data, std::vector<float>{0.1f, 1 + 0x1p-12f, 70000.0f}));
    CHECK(log.of(Op::store).at(0).event.cost.hbm_write == 6);
    CHECK(log.of(Op::store).at(1).event.cost.hbm_write == 12);
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
        if (e.event.op == Op::release || e.tile == "X" || e.tile == "H" || e.event.op == Op::alloc) continue;
        CAPTURE(e.event.what, e.tile);
        CHECK(e.data.at(0) == (e.tile == "narrow" ? 1.0f : e.tile == "sum" ? 256.0f : 2048.0f));
    }
}

TEST_CASE("every operation has its price", "[block][ops]") {
    struct Priced {
        const char* name;
        Operation op;
        Shape out, in;
        Count exps, other;
        bool update;
    };
    const std::vector<Priced> all{
        {"copy", [](Block& b, Tile& x, const Tile& y) { copy(b, x, y); }, {3, 5}, {3, 5}, 0, 0, false},
        {"row_max", [](Block& b, Tile& m, const Tile& s) { row_max(b, m, s); }, {3, 1}, {3, 5}, 0, 12, false},
        {"update_row_max", [](Block& b, Tile& m, const Tile& s) { update_row_max(b, m, s); }, {3, 1}, {3, 5}, 0, 15, true},
        {"row_sum", [](Block& b, Tile& l, const Tile& s) { row_sum(b, l, s); }, {3, 1}, {3, 5}, 0, 12, false},
        {"update_row_sum", [](Block& b, Tile& l, const Tile& s) { update_row_sum(b, l, s); }, {3, 1}, {3, 5}, 0, 15, true},
        {"exp_minus", [](Block& b, Tile& x, const Tile& m) { exp_minus(b, x, m); }, {3, 5}, {3, 1}, 15, 15, true},
        {"scale_rows", [](Block& b, Tile& x, const Tile& f) { scale_rows(b, x, f); }, {3, 5}, {3, 1}, 0, 15, true},
        {"divide_rows", [](Block& b, Tile& x, const Tile& l) { divide_rows(b, x, l); }, {3, 5}, {3, 1}, 0, 15, true},
        {"add", [](Block& b, Tile& x, const Tile& y) { add(b, x, y); }, {3, 5}, {3, 5}, 0, 15, true},
        {"update_max", [](Block& b, Tile& x, const Tile& y) { update_max(b, x, y); }, {3, 5}, {3, 5}, 0, 15, true},
        {"add_log", [](Block& b, Tile& m, const Tile& l) { add_log(b, m, l); }, {3, 1}, {3, 1}, 0, 6, true},
        {"row_max", [](Block& b, Tile& m, const Tile& s) { row_max(b, m, s); }, {4, 1}, {4, 1}, 0, 0, false},
    };
    const Mode mode = GENERATE(numeric_mode, exact_mode);
    for (const Priced& p : all) {
        CAPTURE(p.name);
        Gpu gpu(small_gpu(), mode, 1);
        Log log;
        gpu.listen(log);
        in_block(gpu, [&](Block& b) {
            b.at(4);
            // `out` in registers in f32, `in` in SRAM in f16, so that each byte can only be one of them.
            Tile out = b.alloc_registers("out", p.out.rows, p.out.cols, 1);
            Tile in = b.alloc("in", p.in.rows, p.in.cols, Space::sram, Dtype::f16, 1);
            p.op(b, out, in);
        });
        const Bytes out = p.out.rows * p.out.cols * 4, in = p.in.rows * p.in.cols * 2;
        const Log::Entry& e = log.all.at(2);
        CHECK(difference(e.event.cost, {.sram_read = in,
                                        .register_read = p.update ? out : 0,
                                        .register_write = out,
                                        .exps = p.exps,
                                        .other_flops = p.other}) == "");
        CHECK(std::string(e.event.what) == p.name);
        CHECK(e.event.line == 4);
        CHECK(e.event.out == 0);
        CHECK(e.event.a == 1);
        CHECK(e.event.b == no_tile);
        CHECK(e.tile == "out");
        CHECK((e.event.op == (p.in.cols > p.out.cols || p.in.rows == 4 ? Op::reduce : Op::map)));
        CHECK(e.data.size() == (mode.data ? static_cast<std::size_t>(p.out.rows * p.out.cols) : 0));
    }
}

TEST_CASE("operations on one tile have their price", "[block][ops]") {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    Log log;
    gpu.listen(log);
    std::uint32_t line = 0;
    in_block(gpu, [&](Block& b) {
        Tile x = b.alloc("x", 3, 5, Space::sram, Dtype::bf16, 1);
        exp(b, x), line = __LINE__;
        mask_above_diagonal(b, x, 0);
    });
    CHECK(difference(log.all.at(1).event.cost, {.sram_read = 30, .sram_write = 30, .exps = 15}) == "");
    CHECK(log.all.at(1).event.source_line == line);
    CHECK(std::string(log.all.at(1).event.what) == "exp");
    CHECK(std::string(log.all.at(2).event.what) == "mask_above_diagonal");
    CHECK(difference(log.all.at(2).event.cost, {}) == "");  // a predicate on what produced x
    CHECK(log.all.at(2).event.source_line == line + 1);
    CHECK(log.all.at(2).event.a == no_tile);
}

TEST_CASE("row reductions compute what a plain loop computes", "[block][ops]") {
    for (const Shape s : shapes) {
        CAPTURE(s.rows, s.cols);
        const Matrix x = extreme_matrix(s.rows, s.cols, 5), old = extreme_matrix(s.rows, 1, 6);
        const auto greatest = [&](Index r) {
            double m = -static_cast<double>(infinity);
            for (Index c = 0; c < s.cols; ++c) m = std::max<double>(m, x(r, c));
            return m;
        };
        CHECK(mistakes(result([](Block& b, Tile& m, const Tile& t) { row_max(b, m, t); }, old, x),
                       [&](Index r, Index) { return greatest(r); }) == 0);
        CHECK(mistakes(result([](Block& b, Tile& m, const Tile& t) { update_row_max(b, m, t); }, old, x),
                       [&](Index r, Index) { return std::max<double>(old(r, 0), greatest(r)); }) == 0);
        // Positive numbers, so that a tolerance relative to the sum is fair in any order of summation.
        Matrix y = x;
        for (float& v : y.x) v = v == -infinity ? 0.0f : std::abs(v);
        const auto sum = [&](Index r) {
            double l = 0;
            for (Index c = 0; c < s.cols; ++c) l += static_cast<double>(y(r, c));
            return l;
        };
        CHECK(mistakes(result([](Block& b, Tile& l, const Tile& t) { row_sum(b, l, t); }, old, y),
                       [&](Index r, Index) { return sum(r); }) == 0);
        const Matrix start(s.rows, 1, 2.5f);
        CHECK(mistakes(result([](Block& b, Tile& l, const Tile& t) { update_row_sum(b, l, t); }, start, y),
                       [&](Index r, Index) { return 2.5 + sum(r); }) == 0);
    }
}

TEST_CASE("exponentials compute what a plain loop computes", "[block][ops]") {
    for (const Shape s : shapes) {
        CAPTURE(s.rows, s.cols);
        Matrix x = extreme_matrix(s.rows, s.cols, 7), m(s.rows, 1);
        for (Index r = 0; r < s.rows; ++r) {
            m(r, 0) = x(r, 0);
            for (Index c = 0; c < s.cols; ++c) m(r, 0) = std::max(m(r, 0), x(r, c));
        }
        CHECK(mistakes(result([](Block& b, Tile& t, const Tile&) { exp(b, t); }, x, m),
                       [&](Index r, Index c) { return exp_of(x(r, c)); }) == 0);
        // A row of nothing but -inf has m = -inf and becomes 0.
        CHECK(mistakes(result([](Block& b, Tile& t, const Tile& u) { exp_minus(b, t, u); }, x, m),
                       [&](Index r, Index c) { return m(r, 0) == -infinity ? 0 : exp_of(x(r, c) - m(r, 0)); }) == 0);
    }
}

TEST_CASE("the exponential overflows, underflows and ends as the hardware's does", "[block][ops]") {
    const float lowest = -87.3365402f;
    const std::vector<float> ends{-infinity, infinity, 0.0f,    -0.0f,   88.72283f, 88.7229f, 100.0f, 1e30f,
                                  -1e30f,    -87.0f,   lowest, -87.337f, -100.0f,   1.0f,     -1.0f,  87.0f};
    // In every position of a vector instruction, and in the rest that is left over.
    for (const Index cols : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17}) {
        Matrix x(static_cast<Index>(ends.size()), cols);
        for (Index r = 0; r < x.rows; ++r)
            for (Index c = 0; c < cols; ++c) x(r, c) = ends[static_cast<std::size_t>((r + c) % x.rows)];
        const Matrix y = result([](Block& b, Tile& t, const Tile&) { exp(b, t); }, x, Matrix(1, 1));
        CHECK(mistakes(y, [&](Index r, Index c) { return exp_of(x(r, c)); }) == 0);
    }
}

TEST_CASE("row scaling and element-wise operations compute what a plain loop computes", "[block][ops]") {
    for (const Shape s : shapes) {
        CAPTURE(s.rows, s.cols);
        const Matrix x = extreme_matrix(s.rows, s.cols, 8), y = extreme_matrix(s.rows, s.cols, 9);
        const Matrix f = random_matrix(s.rows, 1, 10);
        CHECK(mistakes(result([](Block& b, Tile& t, const Tile& u) { copy(b, t, u); }, x, y),
                       [&](Index r, Index c) { return y(r, c); }) == 0);
        CHECK(mistakes(result([](Block& b, Tile& t, const Tile& u) { scale_rows(b, t, u); }, x, f),
                       [&](Index r, Index c) { return x(r, c) * f(r, 0); }) == 0);
        CHECK(mistakes(result([](Block& b, Tile& t, const Tile& u) { divide_rows(b, t, u); }, x, f),
                       [&](Index r, Index c) { return x(r, c) / f(r, 0); }) == 0);
        CHECK(mistakes(result([](Block& b, Tile& t, const Tile& u) { add(b, t, u); }, x, y),
                       [&](Index r, Index c) { return x(r, c) + y(r, c); }) == 0);
        CHECK(mistakes(result([](Block& b, Tile& t, const Tile& u) { update_max(b, t, u); }, x, y),
                       [&](Index r, Index c) { return std::max(x(r, c), y(r, c)); }) == 0);
        Matrix l = y;
        for (float& v : l.x) v = v == -infinity ? 0.0f : std::abs(v);
        CHECK(mistakes(result([](Block& b, Tile& t, const Tile& u) { add_log(b, t, u); }, Matrix(s.rows, s.cols, 1000.0f), l),
                       [&](Index r, Index c) { return 1000 + std::log(static_cast<double>(l(r, c))); }) == 0);
    }
}

TEST_CASE("rows that saw nothing end as 0 and -inf, not as NaN", "[block][ops]") {
    const Matrix zeros(3, 4), none(3, 1);
    const Matrix o = result([](Block& b, Tile& x, const Tile& l) { divide_rows(b, x, l); }, zeros, none);
    CHECK(same_bits(o.x, zeros.x));
    const Matrix column = result([](Block& b, Tile& x, const Tile& l) { divide_rows(b, x, l); }, none, none);
    CHECK(same_bits(column.x, none.x));
    const Matrix lse = result([](Block& b, Tile& m, const Tile& l) { add_log(b, m, l); }, Matrix(3, 1, -infinity), none);
    CHECK(same_bits(lse.x, std::vector<float>(3, -infinity)));
    // The correction factor of an online softmax, from nothing seen to something seen and from nothing to nothing.
    const Matrix m = result([](Block& b, Tile& x, const Tile& t) { exp_minus(b, x, t); }, Matrix(2, 1, -infinity),
                            Matrix(2, 1, {5.0f, -infinity}));
    CHECK(same_bits(m.x, std::vector<float>(2, 0.0f)));
}

TEST_CASE("a NaN is not swallowed", "[block][ops]") {
    for (const Shape s : shapes)
        for (Index at = 0; at < std::min<Index>(s.rows * s.cols, 40); ++at) {
            Matrix x = random_matrix(s.rows, s.cols, 11), ones(s.rows, 1, 1.0f);
            x.x[static_cast<std::size_t>(at)] = not_a_number;
            const auto expect_nan_there = [&](const Operation& op, const Matrix& in) {
                const Matrix y = result(op, x, in);
                for (Index k = 0; k < s.rows * s.cols; ++k)
                    if (std::isnan(y.x[static_cast<std::size_t>(k)]) != (k == at)) return false;
                return true;
            };
            const Matrix same(s.rows, s.cols, 1.0f);
            CHECK(expect_nan_there([](Block& b, Tile& t, const Tile&) { exp(b, t); }, ones));
            CHECK(expect_nan_there([](Block& b, Tile& t, const Tile& m) { exp_minus(b, t, m); }, ones));
            CHECK(expect_nan_there([](Block& b, Tile& t, const Tile& m) { scale_rows(b, t, m); }, ones));
            CHECK(expect_nan_there([](Block& b, Tile& t, const Tile& m) { divide_rows(b, t, m); }, ones));
            CHECK(expect_nan_there([](Block& b, Tile& t, const Tile& m) { add(b, t, m); }, same));
            CHECK(expect_nan_there([](Block& b, Tile& t, const Tile& m) { add_log(b, t, m); }, same));
            // Sums are NaN in that row only, and so is the row's softmax, whatever its maximum took the NaN for.
            const Matrix l = result([](Block& b, Tile& t, const Tile& u) { row_sum(b, t, u); }, ones, x);
            const auto softmax_sum = [](Block& b, Tile& t, const Tile& u) {
                Tile p = b.alloc_registers("p", u.rows(), u.cols()), m = b.alloc_registers("m", u.rows(), 1);
                copy(b, p, u);
                row_max(b, m, u);
                exp_minus(b, p, m);
                update_row_sum(b, t, p);
            };
            const Matrix sum = result(softmax_sum, ones, x);
            for (Index r = 0; r < s.rows; ++r) {
                if (std::isnan(l(r, 0)) != (r == at / s.cols)) FAIL("row_sum, row " << r);
                if (std::isnan(sum(r, 0)) != (r == at / s.cols)) FAIL("softmax, row " << r);
            }
        }
}

TEST_CASE("the mask hides what is above the diagonal", "[block][ops]") {
    for (const Shape s : shapes)
        for (const Index diagonal : {-100, -7, -3, -1, 0, 1, 2, 6, 31, 100}) {
            const Matrix x = random_matrix(s.rows, s.cols, 12);
            const Matrix y = result([&](Block& b, Tile& t, const Tile&) { mask_above_diagonal(b, t, diagonal); }, x, x);
            CHECK(mistakes(y, [&](Index r, Index c) { return c > r + diagonal ? -infinity : x(r, c); }) == 0);
        }
}

TEST_CASE("matmul has its price", "[block][matmul]") {
    const Mode mode = GENERATE(numeric_mode, exact_mode);
    struct Case {
        Trans trans;
        Shape a, b;
    };
    for (const Case& k : {Case{Trans::none, {3, 5}, {5, 4}}, Case{Trans::a, {5, 3}, {5, 4}}, Case{Trans::b, {3, 5}, {4, 5}}}) {
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
        const auto products = log.of(Op::matmul);
        REQUIRE(products.size() == 1);
        const Event& e = products[0].event;
        CHECK(difference(e.cost, {.sram_read = 30 + 40, .register_read = 48, .register_write = 48, .matmul_flops = 120}) ==
              "");
        CHECK(e.line == 9);
        CHECK(e.out == 0);
        CHECK(e.a == 1);
        CHECK(e.b == 2);
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
    CHECK(mistakes({3, 3, contents(gpu.tensors()[2])},
                   [](Index r, Index) { return r == 0 ? 2.0f : r == 1 ? -infinity : not_a_number; }) == 0);
}

TEST_CASE("f32 operands of a product are rounded to the other's narrower type, and stay as they are", "[block][matmul]") {
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
        CHECK_THROWS_WITH(b.matmul(acc, a, c, Trans::b), Contains("acc [3 x 4] += a [3 x 5] c [5 x 4]"));
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
