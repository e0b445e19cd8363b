#include "core/machine/effect.hpp"

namespace tilescope {

const char* formula_of(Effect effect) {
    switch (effect) {
        case Effect::none:
            return "";
        case Effect::make:
            return "make o";
        case Effect::free:
            return "free o";
        case Effect::load:
            return "load o ↑";
        case Effect::store:
            return "store a ↓";
        case Effect::store_sum:
            return "add a ↓";
        case Effect::product:
            return "o += a b";
        case Effect::copy:
            return "o ← a";
        case Effect::take_column:
            return "o ← one column of a";
        case Effect::add:
            return "o += a";
        case Effect::add_log:
            return "o += log a";
        case Effect::add_row_sum:
            return "o += rowsum a";
        case Effect::add_column_sum:
            return "o += colsum a";
        case Effect::multiply:
            return "o *= a";
        case Effect::scale_rows:
            return "o ← a · o";
        case Effect::subtract_rows:
            return "o ← o − a";
        case Effect::divide_rows:
            return "o ← o / a";
        case Effect::row_max:
            return "o ← rowmax a";
        case Effect::row_sum:
            return "o ← rowsum a";
        case Effect::max:
            return "o ← max(o, a)";
        case Effect::max_row_max:
            return "o ← max(o, rowmax a)";
        case Effect::exp:
            return "o ← exp o";
        case Effect::exp_minus:
            return "o ← exp(o − a)";
        case Effect::hide_above:
            return "o ← −∞ above the diagonal";
        case Effect::hide_below:
            return "o ← −∞ below the diagonal";
        case Effect::hide_where:
            return "o ← −∞ where hidden";
        case Effect::cap:
            return "o ← cap tanh(o / cap)";
        case Effect::slope_of_cap:
            return "o ← 1 − (a / cap)²";
        case Effect::subtract_distance:
            return "o −= slope · distance";
        case Effect::draw:
            return "o ← 0 or 1";
        case Effect::drop:
            return "o ← z · o";
        case Effect::scale:
            return "o ← c · o";
        case Effect::mark_seen:
            return "o ← 1 where o > −∞";
        case Effect::keep_rows:
            return "o ← o where a";
    }
    return "";
}

}  // namespace tilescope
