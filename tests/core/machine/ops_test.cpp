#include "core/machine/ops.hpp"

#include "core/machine/gradient_ops.hpp"
#include "core/machine/mode.hpp"
#include "core/machine/score_ops.hpp"
#include "tests/support/harness.hpp"

using namespace tilescope;
using namespace tilescope::testing;

namespace {

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
    return e < static_cast<double>(std::numeric_limits<float>::min()) ? 0 : e;  // results are never subnormal
}

}  // namespace

TEST_CASE("every operation has its price", "[ops]") {
    struct Priced {
        const char* name;
        OnTiles op;
        Shape out, in;
        Count exps, other;
        bool update;
    };
    const std::vector<Priced> all{
        {"copy", [](Block& b, Tile& x, const Tile& y) { copy(b, x, y); }, {3, 5}, {3, 5}, 0, 0, false},
        {"row_max", [](Block& b, Tile& m, const Tile& s) { row_max(b, m, s); }, {3, 1}, {3, 5}, 0, 12, false},
        {"update_row_max",
         [](Block& b, Tile& m, const Tile& s) { update_row_max(b, m, s); },
         {3, 1},
         {3, 5},
         0,
         15,
         true},
        {"row_sum", [](Block& b, Tile& l, const Tile& s) { row_sum(b, l, s); }, {3, 1}, {3, 5}, 0, 12, false},
        {"update_row_sum",
         [](Block& b, Tile& l, const Tile& s) { update_row_sum(b, l, s); },
         {3, 1},
         {3, 5},
         0,
         15,
         true},
        {"exp_minus", [](Block& b, Tile& x, const Tile& m) { exp_minus(b, x, m); }, {3, 5}, {3, 1}, 15, 15, true},
        {"scale_rows", [](Block& b, Tile& x, const Tile& f) { scale_rows(b, x, f); }, {3, 5}, {3, 1}, 0, 15, true},
        {"divide_rows", [](Block& b, Tile& x, const Tile& l) { divide_rows(b, x, l); }, {3, 5}, {3, 1}, 0, 15, true},
        {"subtract_rows",
         [](Block& b, Tile& x, const Tile& d) { subtract_rows(b, x, d); },
         {3, 5},
         {3, 1},
         0,
         15,
         true},
        {"multiply", [](Block& b, Tile& x, const Tile& y) { multiply(b, x, y); }, {3, 5}, {3, 5}, 0, 15, true},
        {"cap_slope", [](Block& b, Tile& x, const Tile& y) { cap_slope(b, x, y, 2); }, {3, 5}, {3, 5}, 0, 30, false},
        {"add", [](Block& b, Tile& x, const Tile& y) { add(b, x, y); }, {3, 5}, {3, 5}, 0, 15, true},
        {"update_max", [](Block& b, Tile& x, const Tile& y) { update_max(b, x, y); }, {3, 5}, {3, 5}, 0, 15, true},
        {"add_log", [](Block& b, Tile& m, const Tile& l) { add_log(b, m, l); }, {3, 1}, {3, 1}, 0, 6, true},
        {"row_max", [](Block& b, Tile& m, const Tile& s) { row_max(b, m, s); }, {4, 1}, {4, 1}, 0, 0, false},
        {"take_column", [](Block& b, Tile& x, const Tile& y) { take_column(b, x, y, 0); }, {3, 1}, {3, 1}, 0, 0, false},
    };
    const Mode mode = GENERATE(numeric_mode, exact_mode);
    for (const Priced& p : all) {
        CAPTURE(p.name);
        Gpu gpu(small_gpu(), mode, 1);
        Log log;
        gpu.listen(log);
        in_block(gpu, [&](Block& b) {
            b.at(4);
            // `out` is f32 in registers, `in` is f16 in SRAM, so that each byte counted belongs to only one of them.
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
        CHECK(std::string(e.event.operation->name) == p.name);
        CHECK(e.event.line == 4);
        CHECK(e.event.out == 0);
        CHECK(e.event.a() == 1);
        CHECK(e.event.b() == no_tile);
        CHECK(e.tile == "out");
        CHECK((e.event.kind() == (p.in.cols > p.out.cols || p.in.rows == 4 ? Kind::reduce : Kind::map)));
        CHECK(e.data.size() == (mode.data ? static_cast<std::size_t>(p.out.rows * p.out.cols) : 0));
    }
}

TEST_CASE("operations on one tile have their price", "[ops]") {
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
    CHECK(std::string(log.all.at(1).event.operation->name) == "exp");
    CHECK(std::string(log.all.at(2).event.operation->name) == "mask_above_diagonal");
    CHECK(difference(log.all.at(2).event.cost, {}) == "");  // no cost: the operation that produced x could mask it
    CHECK(log.all.at(2).event.source_line == line + 1);
    CHECK(log.all.at(2).event.a() == no_tile);
}

TEST_CASE("row reductions compute what a plain loop computes", "[ops]") {
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
        // Positive numbers, so that the tolerance relative to the sum holds for any order of summation.
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

TEST_CASE("exponentials compute what a plain loop computes", "[ops]") {
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

TEST_CASE("the exponential overflows, underflows and ends as the hardware's does", "[ops]") {
    const float lowest = -87.3365402f;
    const std::vector<float> ends{-infinity, infinity, 0.0f,   -0.0f,    88.72283f, 88.7229f, 100.0f, 1e30f,
                                  -1e30f,    -87.0f,   lowest, -87.337f, -100.0f,   1.0f,     -1.0f,  87.0f};
    const auto n = static_cast<Index>(ends.size());
    // Each number in every position of a vector instruction, and in the remainder.
    for (Index cols = 1; cols <= 17; ++cols)
        for (Index first = 0; first < n; ++first) {
            Matrix x(1, cols);
            for (Index c = 0; c < cols; ++c) x(0, c) = ends[static_cast<std::size_t>((first + c) % n)];
            const Matrix y = result([](Block& b, Tile& t, const Tile&) { exp(b, t); }, x, Matrix(1, 1));
            CHECK(mistakes(y, [&](Index r, Index c) { return exp_of(x(r, c)); }) == 0);
        }
}

TEST_CASE("row scaling and element-wise operations compute what a plain loop computes", "[ops]") {
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
        CHECK(mistakes(result([](Block& b, Tile& t, const Tile& u) { add_log(b, t, u); },
                              Matrix(s.rows, s.cols, 1000.0f), l),
                       [&](Index r, Index c) { return 1000 + std::log(static_cast<double>(l(r, c))); }) == 0);
    }
}

TEST_CASE("rows that saw nothing end as 0 and -inf, not as NaN", "[ops]") {
    const Matrix zeros(3, 4), none(3, 1);
    const Matrix o = result([](Block& b, Tile& x, const Tile& l) { divide_rows(b, x, l); }, zeros, none);
    CHECK(same_bits(o.x, zeros.x));
    const Matrix column = result([](Block& b, Tile& x, const Tile& l) { divide_rows(b, x, l); }, none, none);
    CHECK(same_bits(column.x, none.x));
    const Matrix lse =
        result([](Block& b, Tile& m, const Tile& l) { add_log(b, m, l); }, Matrix(3, 1, -infinity), none);
    CHECK(same_bits(lse.x, std::vector<float>(3, -infinity)));
    // The correction factor of an online softmax: from no key seen to some seen, and from none to none.
    const Matrix m = result([](Block& b, Tile& x, const Tile& t) { exp_minus(b, x, t); }, Matrix(2, 1, -infinity),
                            Matrix(2, 1, {5.0f, -infinity}));
    CHECK(same_bits(m.x, std::vector<float>(2, 0.0f)));
}

TEST_CASE("a NaN is not swallowed", "[ops]") {
    for (const Shape s : shapes)
        for (Index at = 0; at < std::min<Index>(s.rows * s.cols, 40); ++at) {
            Matrix x = random_matrix(s.rows, s.cols, 11), ones(s.rows, 1, 1.0f);
            x.x[static_cast<std::size_t>(at)] = not_a_number;
            const auto expect_nan_there = [&](const OnTiles& op, const Matrix& in) {
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
            // Sums are NaN in that row only. So is the row's softmax, whatever the maximum made of the NaN.
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

TEST_CASE("the mask hides what is above the diagonal", "[ops]") {
    for (const Shape s : shapes)
        for (const Index diagonal : {-100, -7, -3, -1, 0, 1, 2, 6, 31, 100}) {
            const Matrix x = random_matrix(s.rows, s.cols, 12);
            const Matrix y = result([&](Block& b, Tile& t, const Tile&) { mask_above_diagonal(b, t, diagonal); }, x, x);
            CHECK(mistakes(y, [&](Index r, Index c) { return c > r + diagonal ? -infinity : x(r, c); }) == 0);
        }
}
