// What an operation does to numbers, as a value. Code that reads events asks for this, never for a word or a formula.
#pragma once

#include <cstdint>
#include <string_view>

namespace tilescope {

/// o is the tile that is written, a and b are the tiles that are read. In scale_rows, subtract_rows, divide_rows and
/// exp_minus a has one number for each row of o.
enum class Effect : std::uint8_t {
    none,  ///< a mark in a recording
    make,
    free,
    load,
    store,
    store_sum,  ///< HBM adds the stored values to those that it has
    product,    ///< o += a b
    copy,
    take_column,
    add,
    add_log,
    add_row_sum,
    add_column_sum,
    multiply,
    scale_rows,
    scale_columns,  ///< by numbers of a, each for one column of o or for several
    subtract_rows,
    divide_rows,
    row_max,
    row_sum,
    max,          ///< of o and a
    max_row_max,  ///< of o and the maximum of a's row
    exp,          ///< of o
    exp_minus,    ///< of o - a
    hide_above,   ///< o is -inf above a diagonal
    hide_below,
    hide_where,
    level_rows,         ///< some rows become 0
    cap,                ///< cap tanh(o / cap)
    slope_of_cap,       ///< the derivative of cap: 1 - (a / cap)^2
    subtract_distance,  ///< ALiBi: o minus a slope times the distance of query and key
    draw,               ///< which elements dropout keeps
    drop,
    scale,      ///< by a constant
    mark_seen,  ///< which elements are above -inf
    keep_rows,  ///< where a is not 0; other rows become 0
    hold,       ///< o is a where it is not far above
    transpose,
};
inline constexpr int effect_count = static_cast<int>(Effect::transpose) + 1;

/// The effect as a formula in o, a and b: "o ← exp(o − a)"; empty for a mark.
std::string_view formula_of(Effect effect);

constexpr bool takes_exponential(Effect e) { return e == Effect::exp || e == Effect::exp_minus; }
constexpr bool takes_maximum(Effect e) { return e == Effect::row_max || e == Effect::max || e == Effect::max_row_max; }
/// Whether the effect sums the numbers in each row of a.
constexpr bool sums_row(Effect e) { return e == Effect::row_sum || e == Effect::add_row_sum; }
constexpr bool takes_row_maximum(Effect e) { return e == Effect::row_max || e == Effect::max_row_max; }
/// Whether something is added to the values that o has.
constexpr bool accumulates(Effect e) {
    return e == Effect::product || e == Effect::add || e == Effect::add_log || e == Effect::add_row_sum ||
           e == Effect::add_column_sum;
}

}  // namespace tilescope
