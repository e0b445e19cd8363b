#include "algorithms/contract/mask.hpp"

#include "algorithms/contract/block_mask.hpp"
#include "algorithms/contract/choices.hpp"
#include "core/machine/score_ops.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope {

const char* name_of(Corner corner) { return corner == Corner::top_left ? "top-left" : "bottom-right"; }

namespace {

constexpr Span all_there_are = {0, endless};

}  // namespace

Mask Mask::with(BlockMask blocks) const {
    Mask m = *this;
    m.blocks_ = std::make_shared<const BlockMask>(std::move(blocks));
    return m;
}

Mask Mask::with(Documents documents) const {
    Mask m = *this;
    m.documents_ = std::make_shared<const Documents>(std::move(documents));
    return m;
}

bool operator==(const Mask& a, const Mask& b) {
    const auto same = [](const auto& x, const auto& y) { return x == y || (x && y && *x == *y); };
    return a.left_ == b.left_ && a.right_ == b.right_ && same(a.blocks_, b.blocks_) && same(a.documents_, b.documents_);
}

std::string Mask::name() const {
    const auto bound = [](const std::optional<Index>& n) { return n ? std::to_string(*n) : std::string("-"); };
    std::vector<std::string> parts;
    if (!left_ && right_ == 0)
        parts.push_back("causal");
    else if (left_ || right_)
        parts.push_back("window " + bound(left_) + ' ' + bound(right_));
    if (documents_) {
        const Index n = documents_->count();
        parts.push_back(text::grouped(n) + (n == 1 ? " document" : " documents"));
    }
    if (blocks_) {
        const std::string size = std::to_string(blocks_->block_rows) + " x " + std::to_string(blocks_->block_cols);
        parts.push_back(blocks_->name + " in blocks of " + size);
    }
    return parts.empty() ? "none" : text::join(parts, ", ");
}

Seen Mask::visible(Tiles keys, Index diagonal) const {
    Seen seen(keys);
    if (right_) seen = seen.and_before_end(diagonal + *right_);
    if (left_) seen = seen.and_after_begin(diagonal - *left_);
    if (patterned())
        seen = seen.and_not_hidden([m = *this, diagonal](Span r, Span k) { return m.cover(r, k, diagonal); },
                                   [m = *this, diagonal](Span r) { return m.keys_reached(r, diagonal); });
    return seen;
}

Seen Mask::seeing(Tiles rows, Index diagonal) const {
    Seen seen(rows);
    if (right_) seen = seen.and_after_begin(-diagonal - *right_);
    if (left_) seen = seen.and_before_end(-diagonal + *left_);
    if (patterned())
        seen = seen.and_not_hidden([m = *this, diagonal](Span k, Span r) { return m.cover(r, k, diagonal); },
                                   [m = *this, diagonal](Span k) { return m.rows_reached(k, diagonal); });
    return seen;
}

bool Mask::sees(Index row, Index key, Index diagonal) const {
    return (!right_ || key <= row + diagonal + *right_) && (!left_ || key >= row + diagonal - *left_) &&
           pattern_sees(row, key, diagonal);
}

bool Mask::pattern_sees(Index row, Index key, Index diagonal) const {
    return (!documents_ || documents_->at(row + diagonal) == documents_->at(key)) &&
           (!blocks_ || blocks_->sees(row, key));
}

Span Mask::keys_reached(Span rows, Index diagonal) const {
    return documents_ ? documents_->around({rows.begin + diagonal, rows.size}) : all_there_are;
}

Span Mask::rows_reached(Span keys, Index diagonal) const {
    if (!documents_) return all_there_are;
    const Span positions = documents_->around(keys);
    return {positions.begin - diagonal, positions.size};
}

/// As many of the first rows of `rows` as all see the same blocks and documents.
Span Mask::alike_rows(Span rows, Index diagonal) const {
    Index end = rows.end();
    if (blocks_) end = std::min(end, (rows.begin / blocks_->block_rows + 1) * blocks_->block_rows);
    if (documents_) {
        // Positions after the last document belong to it.
        const Index document = documents_->at(rows.begin + diagonal);
        if (document + 1 < documents_->count()) end = std::min(end, documents_->end_of(document) - diagonal);
    }
    return {rows.begin, end - rows.begin};
}

Span Mask::alike_keys(Span keys) const {
    Index end = keys.end();
    if (blocks_) end = std::min(end, (keys.begin / blocks_->block_cols + 1) * blocks_->block_cols);
    if (documents_) end = std::min(end, documents_->end_of(documents_->at(keys.begin)));
    return {keys.begin, end - keys.begin};
}

Cover Mask::band(Span rows, Span keys, Index diagonal) const {
    const Index first_row = rows.begin + diagonal, last_row = rows.end() - 1 + diagonal;
    const Index first = keys.begin, last = keys.end() - 1;
    if ((right_ && first > last_row + *right_) || (left_ && last < first_row - *left_)) return Cover::hidden;
    if ((right_ && last > first_row + *right_) || (left_ && first < last_row - *left_)) return Cover::partial;
    return Cover::whole;
}

template <class F>
void Mask::each_part(Span rows, Span keys, Index diagonal, F&& f) const {
    const Span likely = intersection(rows, rows_reached(keys, diagonal));
    for (Index r = likely.begin; r < likely.end();) {
        const Span part = alike_rows({r, likely.end() - r}, diagonal),
                   own = intersection(keys, keys_reached(part, diagonal));
        for (Index k = own.begin; k < own.end();) {
            const Span across = alike_keys({k, own.end() - k});
            if (!f(part, across, pattern_sees(r, k, diagonal))) return;
            k = across.end();
        }
        r = part.end();
    }
}

Cover Mask::cover(Span rows, Span keys, Index diagonal) const {
    const Cover all = band(rows, keys, diagonal);
    if (!patterned() || all == Cover::hidden) return all;
    Count whole = 0;  // pairs in parts in which every query sees every key
    bool some_seen = false, some_hidden = false;
    each_part(rows, keys, diagonal, [&](Span part, Span across, bool sees) {
        const Cover c = sees ? band(part, across, diagonal) : Cover::hidden;
        some_seen |= c != Cover::hidden, some_hidden |= c != Cover::whole;
        if (c == Cover::whole) whole += part.size * across.size;
        return !(some_seen && some_hidden);
    });
    if (!some_seen) return Cover::hidden;
    return whole == rows.size * keys.size ? Cover::whole : Cover::partial;
}

Count Mask::pairs(Span rows, Span keys, Index diagonal) const {
    const auto of_band = [&](Span part, Span across) {
        const Cover all = band(part, across, diagonal);
        if (all != Cover::partial) return all == Cover::whole ? part.size * across.size : 0;
        Count seen = 0;
        for (Index r = part.begin + diagonal; r < part.end() + diagonal; ++r) {
            const Index first = left_ ? std::max(across.begin, r - *left_) : across.begin;
            const Index end = right_ ? std::min(across.end(), r + *right_ + 1) : across.end();
            seen += std::max<Index>(0, end - first);
        }
        return seen;
    };
    if (!patterned()) return of_band(rows, keys);
    Count pairs = 0;
    each_part(rows, keys, diagonal, [&](Span part, Span across, bool sees) {
        if (sees) pairs += of_band(part, across);
        return true;
    });
    return pairs;
}

void Mask::apply(Block& b, Tile& s, Span rows, Span keys, Index diagonal, Index of_a_query, Here here) const {
    const Index first = rows.begin / of_a_query, queries = ceil_div(rows.end(), of_a_query) - first;
    if (cover({first, queries}, keys, diagonal) == Cover::whole) return;
    const Index within = first + diagonal - keys.begin;  // the first query's diagonal, as a column of the tile
    const Stairs stairs{of_a_query, rows.begin % of_a_query};
    if (right_ && keys.size - 1 > within + *right_) mask_above_diagonal(b, s, within + *right_, stairs, here);
    if (left_ && within + queries - 1 - *left_ > 0) mask_below_diagonal(b, s, within - *left_, stairs, here);
    if (patterned())
        mask_where(
            b, s,
            [&](Index r, Index c) { return !pattern_sees((rows.begin + r) / of_a_query, keys.begin + c, diagonal); },
            here);
}

}  // namespace tilescope
