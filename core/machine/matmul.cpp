// Block::matmul: acc += alpha factor a b.
#include <Eigen/Core>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/machine/apply.hpp"
#include "core/machine/conversions.hpp"
#include "core/machine/flow.hpp"
#include "core/machine/number_formats.hpp"
#include "core/machine/operations/of_block.hpp"
#include "core/machine/tensor_core_sum.hpp"
#include "core/machine/worker.hpp"
#include "core/text/message.hpp"

namespace tilescope {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Map = Eigen::Map<Matrix>;
using ConstMap = Eigen::Map<const Matrix>;

ConstMap map(ConstElements v) { return {v.data, v.rows, v.cols}; }

/// The type in which operands of these types meet where a product does not say.
Dtype narrower(Dtype a, Dtype b) { return a == Dtype::f32 ? b : a; }

/// `t`, a tile like `info`, as it is, where `dtype` holds its values without loss, or a copy in `scratch` rounded to
/// `dtype` for a product that is added to the tile `product`.
ConstElements rounded(ConstElements t, const TileInfo& info, Dtype dtype, const char* product,
                      std::vector<float>& scratch, Saturated& saturated) {
    if (info.dtype == dtype || size_of(info.dtype) < size_of(dtype)) return t;
    saturated.look_at(info.name, dtype, t.data, t.rows * t.cols, product);
    scratch.assign(t.data, t.data + t.rows * t.cols);
    round_to(dtype, scratch.data(), t.rows * t.cols);
    return {scratch.data(), t.rows, t.cols};
}

/// out += alpha a b, with at most one operand transposed.
void multiply(Map out, float alpha, ConstElements a, bool ta, ConstElements b, bool tb) {
    if (ta)
        out.noalias() += alpha * map(a).transpose() * map(b);
    else if (tb)
        out.noalias() += alpha * map(a) * map(b).transpose();
    else
        out.noalias() += alpha * map(a) * map(b);
}

/// The factor of each of m rows.
Eigen::VectorXf factors_of(const Product& by, ConstElements factor, Index m) {
    Eigen::VectorXf all(m);
    for (Index r = 0; r < m; ++r) all[r] = by.alpha * factor.data[by.stairs(r)];
    return all;
}

/// `x`, which was divided by a factor, without the noise of the division: it would lose a bit when it is cut.
float without_noise(float x) { return float_of((bits_of(x) + 4) & ~std::uint32_t{7}); }

/// out += alpha a b, where a tensor core adds, which knows no alpha: the sum so far is brought to its units.
void multiply_in(int sum_bits, Dtype type, Map out, float alpha, ConstElements a, bool ta, ConstElements b, bool tb) {
    const Matrix left = ta ? Matrix(map(a).transpose()) : Matrix(map(a));
    const Matrix right = tb ? Matrix(map(b).transpose()) : Matrix(map(b));
    Matrix sum = out;
    if (alpha != 1) sum = (sum / alpha).unaryExpr(&without_noise);
    add_products(sum.data(), left.data(), right.data(), sum.rows(), sum.cols(), left.cols(), type, sum_bits);
    out = alpha * sum;
}

void check_factor(const Product& by, Index m) {
    if (by.factor && by.factor->size() != 1 && m > 0 &&
        (by.factor->cols() != 1 || by.stairs(m - 1) >= by.factor->size()))
        throw std::logic_error(text::message("block.no_factor", m));
}

void check_shapes(const TileInfo& acc, const TileInfo& a, const TileInfo& b, Index m, Index n, Index ka, Index kb) {
    if (acc.rows == m && acc.cols == n && ka == kb) return;
    const auto shape = [](const TileInfo& t) {
        return text::message("block.tile", t.name, std::to_string(t.rows), std::to_string(t.cols));
    };
    throw std::logic_error(text::message("block.product_does_not_match", shape(acc), shape(a), shape(b)));
}

}  // namespace

void Block::matmul(Tile& acc, const Tile& a, const Tile& b, Trans trans, const Product& by, Here here) {
    w_.here = here;
    const bool ta = trans == Trans::a, tb = trans == Trans::b;
    const TileInfo &to = w_.chip.info(acc.slot_), &left = w_.chip.info(a.slot_), &right = w_.chip.info(b.slot_);
    const Index m = ta ? left.cols : left.rows, k = ta ? left.rows : left.cols, n = tb ? right.rows : right.cols;
    check_shapes(to, left, right, m, n, k, tb ? right.cols : right.rows);
    check_factor(by, m);

    Counters cost;
    cost.matmul_flops = 2 * m * n * k;
    charge_read(cost, left);
    charge_read(cost, right);
    if (by.factor) charge_read(cost, w_.chip.info(by.factor->slot_));
    charge_read(cost, to);
    charge_write(cost, to);
    const Dtype math = by.math.value_or(narrower(left.dtype, right.dtype));
    if (w_.chip.has_data()) {
        const ConstElements factor = by.factor ? Apply::const_elements(*this, *by.factor) : ConstElements{};
        const ConstElements va =
            rounded(Apply::const_elements(*this, a), left, math, to.name, w_.scratch, w_.saturated);
        const ConstElements vb =
            rounded(Apply::const_elements(*this, b), right, math, to.name, w_.more_scratch, w_.saturated);
        Map out(Apply::elements(*this, acc).data, m, n);
        const auto add = [&](Map sum, float alpha) {
            if (by.sum_bits > 0)
                multiply_in(by.sum_bits, math, sum, alpha, va, ta, vb, tb);
            else
                multiply(sum, alpha, va, ta, vb, tb);
        };
        if (factor.rows > 1) {
            Matrix product = Matrix::Zero(m, n);
            add(Map(product.data(), m, n), 1);
            out += factors_of(by, factor, m).asDiagonal() * product;
        } else {
            add(out, factor.data ? by.alpha * *factor.data : by.alpha);
        }
        round_result(acc);
    }
    w_.charge(cost, weight_);
    if (!w_.heard()) return;
    ChipMemory& chip = w_.chip;
    Origin& origin = chip.origin(acc.slot_);
    origin = origin_of_product(chip.origin(a.slot_), ta, chip.origin(b.slot_), tb, origin);
    report({.operation = &operation::matmul,
            .out = chip.id(acc.slot_),
            .reads = {Operand{chip.id(a.slot_), ta}, Operand{chip.id(b.slot_), tb}},
            .alpha = by.alpha,
            .factor = by.factor ? chip.id(by.factor->slot_) : no_tile,
            .math = math,
            .region = origin.region,
            .cost = cost},
           acc, contents(acc), here);
}

}  // namespace tilescope
