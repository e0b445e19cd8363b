#include "algorithms/contract/mask.hpp"

namespace tilescope {

std::string Mask::name() const {
    const auto bound = [](const std::optional<Index>& n) { return n ? std::to_string(*n) : std::string("-"); };
    if (!hides()) return "none";
    return is_causal() ? "causal" : "window " + bound(left_) + ' ' + bound(right_);
}

Seen Mask::visible(Tiles keys, Index diagonal) const {
    Seen seen(keys);
    if (right_) seen = seen.and_before_end(diagonal + *right_);
    if (left_) seen = seen.and_after_begin(diagonal - *left_);
    return seen;
}

Seen Mask::seeing(Tiles rows, Index diagonal) const {
    Seen seen(rows);
    if (right_) seen = seen.and_after_begin(-diagonal - *right_);
    if (left_) seen = seen.and_before_end(-diagonal + *left_);
    return seen;
}

bool Mask::sees(Index row, Index key, Index diagonal) const {
    return (!right_ || key <= row + diagonal + *right_) && (!left_ || key >= row + diagonal - *left_);
}

Cover Mask::cover(Span rows, Span keys, Index diagonal) const {
    const Index first_row = rows.begin + diagonal, last_row = rows.end() - 1 + diagonal;
    const Index first = keys.begin, last = keys.end() - 1;
    if ((right_ && first > last_row + *right_) || (left_ && last < first_row - *left_)) return Cover::hidden;
    if ((right_ && last > first_row + *right_) || (left_ && first < last_row - *left_)) return Cover::partial;
    return Cover::whole;
}

void Mask::apply(Block& b, Tile& s, Span rows, Span keys, Index diagonal, Index of_a_query, Here here) const {
    const Index first = rows.begin / of_a_query, queries = ceil_div(rows.end(), of_a_query) - first;
    if (cover({first, queries}, keys, diagonal) == Cover::whole) return;
    const Index within = first + diagonal - keys.begin;  // the diagonal, in the tile
    const Stairs stairs{of_a_query, rows.begin % of_a_query};
    if (right_ && keys.size - 1 > within + *right_) mask_above_diagonal(b, s, within + *right_, stairs, here);
    if (left_ && within + queries - 1 - *left_ > 0) mask_below_diagonal(b, s, within - *left_, stairs, here);
}

}  // namespace tilescope
