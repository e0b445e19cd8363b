#include "core/machine/ops.hpp"

#include <Eigen/Core>
#include <cmath>
#include <limits>

namespace tilescope {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// e^x with the ends that the hardware has: results below the smallest normal number are 0, overflow is infinity, NaN
/// stays NaN. (Eigen's own clamps its argument, which turns exp(-inf) into 3e-39 and exp(100) into a finite number.)
struct Exp {
    static constexpr float lowest = -87.3365402f, highest = 88.7228317f;

    float operator()(float x) const { return x < lowest ? 0 : std::exp(x); }
    template <class Packet>
    Packet packetOp(const Packet& x) const {
        using namespace Eigen::internal;
        // Not every pexp reaches to `highest`. Above 88, e^x is e^(x - c) e^c, with a c that makes x - c exact.
        const Packet high = pcmp_lt(pset1<Packet>(88.0f), x);
        const Packet c = pselect(high, pset1<Packet>(0.693359375f), pset1<Packet>(0.0f));
        const Packet e_to_c = pselect(high, pset1<Packet>(2.00042443f), pset1<Packet>(1.0f));
        const Packet y = pandnot(pmul(pexp(psub(x, c)), e_to_c), pcmp_lt(x, pset1<Packet>(lowest)));
        const Packet z = pselect(pcmp_lt(pset1<Packet>(highest), x), pset1<Packet>(infinity), y);
        return pselect(pcmp_eq(x, x), z, x);
    }
};

using Array = Eigen::Map<Eigen::Array<float, Eigen::Dynamic, 1>>;
using ConstArray = Eigen::Map<const Eigen::Array<float, Eigen::Dynamic, 1>>;

Array all(Elements x) { return {x.data, x.rows * x.cols}; }
ConstArray all(ConstElements x) { return {x.data, x.rows * x.cols}; }
Array row(Elements x, Index r) { return {x.data + r * x.cols, x.cols}; }
ConstArray row(ConstElements x, Index r) { return {x.data + r * x.cols, x.cols}; }

/// f(elements of x, the factor that goes with them): row by row with m's element of that row, or, when x has a single
/// column, all of x with all of m.
template <class F>
void with_row_factor(Elements x, ConstElements m, F f) {
    if (x.cols == 1) return f(all(x), all(m));
    for (Index r = 0; r < x.rows; ++r) f(row(x, r), m.data[r]);
}

/// m, with -inf replaced by 0: exp(-inf - 0) is 0 where exp(-inf - -inf) would be NaN.
float finite_max(float m) { return m == -infinity ? 0.0f : m; }
template <class T>
auto finite_max(const Eigen::ArrayBase<T>& m) {
    return m.unaryExpr([](float x) { return finite_max(x); });
}

float nonzero(float l) { return l == 0.0f ? 1.0f : l; }
template <class T>
auto nonzero(const Eigen::ArrayBase<T>& l) {
    return l.unaryExpr([](float x) { return nonzero(x); });
}

float greatest(ConstElements s, Index r) { return row(s, r).maxCoeff(); }

}  // namespace
}  // namespace tilescope

template <>
struct Eigen::internal::functor_traits<tilescope::Exp> {
    enum { Cost = functor_traits<scalar_exp_op<float>>::Cost, PacketAccess = packet_traits<float>::HasExp };
};

namespace tilescope {
namespace {

void must(bool fits, const char* what) {
    if (!fits) throw std::logic_error(std::string(what) + ": the tiles' shapes do not match");
}
/// Row statistics of x: one column, as many rows.
void check_column(const char* what, const Tile& column, const Tile& x) {
    must(column.rows() == x.rows() && column.cols() == 1, what);
}
void check_same(const char* what, const Tile& x, const Tile& y) {
    must(x.rows() == y.rows() && x.cols() == y.cols(), what);
}

}  // namespace

void copy(Block& b, Tile& out, const Tile& in, Here here) {
    check_same("copy", out, in);
    b.apply(
        Op::map, "copy", out, Access::write, {}, here, [](Elements x, ConstElements y) { all(x) = all(y); }, in);
}

void row_max(Block& b, Tile& m, const Tile& s, Here here) {
    check_column("row_max", m, s);
    b.apply(
        Op::reduce, "row_max", m, Access::write, {.other = s.size() - s.rows()}, here,
        [](Elements x, ConstElements y) {
            for (Index r = 0; r < x.rows; ++r) x.data[r] = greatest(y, r);
        },
        s);
}

void update_row_max(Block& b, Tile& m, const Tile& s, Here here) {
    check_column("update_row_max", m, s);
    b.apply(
        Op::reduce, "update_row_max", m, Access::update, {.other = s.size()}, here,
        [](Elements x, ConstElements y) {
            for (Index r = 0; r < x.rows; ++r) x.data[r] = std::max(x.data[r], greatest(y, r));
        },
        s);
}

void row_sum(Block& b, Tile& l, const Tile& s, Here here) {
    check_column("row_sum", l, s);
    b.apply(
        Op::reduce, "row_sum", l, Access::write, {.other = s.size() - s.rows()}, here,
        [](Elements x, ConstElements y) {
            for (Index r = 0; r < x.rows; ++r) x.data[r] = row(y, r).sum();
        },
        s);
}

void update_row_sum(Block& b, Tile& l, const Tile& s, Here here) {
    check_column("update_row_sum", l, s);
    b.apply(
        Op::reduce, "update_row_sum", l, Access::update, {.other = s.size()}, here,
        [](Elements x, ConstElements y) {
            for (Index r = 0; r < x.rows; ++r) x.data[r] += row(y, r).sum();
        },
        s);
}

void exp(Block& b, Tile& x, Here here) {
    b.apply(Op::map, "exp", x, Access::update, {.exps = x.size()}, here,
            [](Elements v) { all(v) = all(v).unaryExpr(Exp()); });
}

void exp_minus(Block& b, Tile& x, const Tile& m, Here here) {
    check_column("exp_minus", m, x);
    b.apply(
        Op::map, "exp_minus", x, Access::update, {.exps = x.size(), .other = x.size()}, here,
        [](Elements v, ConstElements w) {
            with_row_factor(v, w, [](auto e, auto f) { e -= finite_max(f); });
            all(v) = all(v).unaryExpr(Exp());  // all rows at once: no row ends that vectors would not fill
        },
        m);
}

void scale_rows(Block& b, Tile& x, const Tile& f, Here here) {
    check_column("scale_rows", f, x);
    b.apply(
        Op::map, "scale_rows", x, Access::update, {.other = x.size()}, here,
        [](Elements v, ConstElements w) { with_row_factor(v, w, [](auto e, auto g) { e *= g; }); }, f);
}

void divide_rows(Block& b, Tile& x, const Tile& l, Here here) {
    check_column("divide_rows", l, x);
    b.apply(
        Op::map, "divide_rows", x, Access::update, {.other = x.size()}, here,
        [](Elements v, ConstElements w) { with_row_factor(v, w, [](auto e, auto g) { e /= nonzero(g); }); }, l);
}

void add(Block& b, Tile& x, const Tile& y, Here here) {
    check_same("add", x, y);
    b.apply(
        Op::map, "add", x, Access::update, {.other = x.size()}, here,
        [](Elements v, ConstElements w) { all(v) += all(w); }, y);
}

void update_max(Block& b, Tile& x, const Tile& y, Here here) {
    check_same("update_max", x, y);
    b.apply(
        Op::map, "update_max", x, Access::update, {.other = x.size()}, here,
        [](Elements v, ConstElements w) { all(v) = all(v).max(all(w)); }, y);
}

void add_log(Block& b, Tile& m, const Tile& l, Here here) {
    check_same("add_log", m, l);
    b.apply(
        Op::map, "add_log", m, Access::update, {.other = 2 * m.size()}, here,
        [](Elements v, ConstElements w) { all(v) += all(w).unaryExpr([](float x) { return std::log(x); }); }, l);
}

void mask_above_diagonal(Block& b, Tile& x, Index diagonal, Here here) {
    b.apply(Op::map, "mask_above_diagonal", x, Access::in_passing, {}, here, [diagonal](Elements v) {
        for (Index r = 0; r < v.rows; ++r)
            for (Index c = std::clamp<Index>(r + diagonal + 1, 0, v.cols); c < v.cols; ++c)
                v.data[r * v.cols + c] = -infinity;
    });
}

}  // namespace tilescope
