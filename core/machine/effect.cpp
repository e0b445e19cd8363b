#include "core/machine/effect.hpp"

#include <cstddef>

#include "core/text/message.hpp"

namespace tilescope {
namespace {

constexpr const char* formulas[effect_count] = {"",
                                                "effect.make",
                                                "effect.free",
                                                "effect.load",
                                                "effect.store",
                                                "effect.store_sum",
                                                "effect.product",
                                                "effect.copy",
                                                "effect.take_column",
                                                "effect.add",
                                                "effect.add_log",
                                                "effect.add_row_sum",
                                                "effect.add_column_sum",
                                                "effect.multiply",
                                                "effect.scale_rows",
                                                "effect.scale_columns",
                                                "effect.subtract_rows",
                                                "effect.divide_rows",
                                                "effect.row_max",
                                                "effect.row_sum",
                                                "effect.max",
                                                "effect.max_row_max",
                                                "effect.exp",
                                                "effect.exp_minus",
                                                "effect.hide_above",
                                                "effect.hide_below",
                                                "effect.hide_where",
                                                "effect.level_rows",
                                                "effect.cap",
                                                "effect.slope_of_cap",
                                                "effect.subtract_distance",
                                                "effect.draw",
                                                "effect.drop",
                                                "effect.scale",
                                                "effect.mark_seen",
                                                "effect.keep_rows",
                                                "effect.hold",
                                                "effect.transpose"};

}  // namespace

std::string_view formula_of(Effect effect) {
    const std::string_view* words = text::language().words(formulas[static_cast<std::size_t>(effect)]);
    return words ? *words : std::string_view();
}

}  // namespace tilescope
