#include "algorithms/contract/mask.hpp"

#include "algorithms/contract/block_mask.hpp"
#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/hidden_rows.hpp"
#include "core/machine/score_ops.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope {

const char* name_of(Corner corner) { return corner == Corner::top_left ? "top-left" : "bottom-right"; }
const char* name_of(HiddenRows rule) {
    return rule == HiddenRows::zero ? "zero" : rule == HiddenRows::mean ? "mean" : "unmasked";
}

namespace {

constexpr Span all_there_are = {0, endless};

/// How many of these rows see no key and do not get 0.
Index blind_among(const Mask& m, Span rows) { return m.blind() ? m.blind()->among(rows) : 0; }

/// Whether the block mask and the documents show the key to the row.
bool pattern_sees(const Mask& m, Index row, Index key, Index diagonal) {
    return (!m.documents() || m.documents()->at(row + diagonal) == m.documents()->at(key)) &&
           (!m.blocks() || m.blocks()->sees(row, key));
}

/// The span of keys (or rows) outside of which documents hide everything from these rows (or keys).
Span keys_reached(const Mask& m, Span rows, Index diagonal) {
    return m.documents() ? m.documents()->around({rows.begin + diagonal, rows.size}) : all_there_are;
}

Span rows_reached(const Mask& m, Span keys, Index diagonal) {
    if (!m.documents()) return all_there_are;
    const Span positions = m.documents()->around(keys);
    return {positions.begin - diagonal, positions.size};
}

/// As many of the first rows of `rows` as all see the same blocks and documents.
Span alike_rows(const Mask& m, Span rows, Index diagonal) {
    Index end = rows.end();
    if (m.blocks()) end = std::min(end, (rows.begin / m.blocks()->block_rows + 1) * m.blocks()->block_rows);
    if (m.documents()) {
        // Positions after the last document belong to it.
        const Index document = m.documents()->at(rows.begin + diagonal);
        if (document + 1 < m.documents()->count()) end = std::min(end, m.documents()->end_of(document) - diagonal);
    }
    return {rows.begin, end - rows.begin};
}

Span alike_keys(const Mask& m, Span keys) {
    Index end = keys.end();
    if (m.blocks()) end = std::min(end, (keys.begin / m.blocks()->block_cols + 1) * m.blocks()->block_cols);
    if (m.documents()) end = std::min(end, m.documents()->end_of(m.documents()->at(keys.begin)));
    return {keys.begin, end - keys.begin};
}

Cover band(const Mask& m, Span rows, Span keys, Index diagonal) {
    const Index first_row = rows.begin + diagonal, last_row = rows.end() - 1 + diagonal;
    const Index first = keys.begin, last = keys.end() - 1;
    if ((m.right() && first > last_row + *m.right()) || (m.left() && last < first_row - *m.left()))
        return Cover::hidden;
    if ((m.right() && last > first_row + *m.right()) || (m.left() && first < last_row - *m.left()))
        return Cover::partial;
    return Cover::whole;
}

/// Divides rows x keys into parts that the pattern shows as a whole or hides as a whole, and calls f(rows, keys, shown)
/// for each part until f returns false. f is not called for parts that documents hide.
template <class F>
void each_part(const Mask& m, Span rows, Span keys, Index diagonal, F&& f) {
    const Span likely = intersection(rows, rows_reached(m, keys, diagonal));
    for (Index r = likely.begin; r < likely.end();) {
        const Span part = alike_rows(m, {r, likely.end() - r}, diagonal),
                   own = intersection(keys, keys_reached(m, part, diagonal));
        for (Index k = own.begin; k < own.end();) {
            const Span across = alike_keys(m, {k, own.end() - k});
            if (!f(part, across, pattern_sees(m, r, k, diagonal))) return;
            k = across.end();
        }
        r = part.end();
    }
}

/// Mask::cover() without the rule for hidden rows.
Cover cover_by_rules(const Mask& m, Span rows, Span keys, Index diagonal) {
    const Cover all = band(m, rows, keys, diagonal);
    if (!(m.blocks() || m.documents()) || all == Cover::hidden) return all;
    Count whole = 0;  // pairs in parts in which every query sees every key
    bool some_seen = false, some_hidden = false;
    each_part(m, rows, keys, diagonal, [&](Span part, Span across, bool sees) {
        const Cover c = sees ? band(m, part, across, diagonal) : Cover::hidden;
        some_seen |= c != Cover::hidden, some_hidden |= c != Cover::whole;
        if (c == Cover::whole) whole += part.size * across.size;
        return !(some_seen && some_hidden);
    });
    if (!some_seen) return Cover::hidden;
    return whole == rows.size * keys.size ? Cover::whole : Cover::partial;
}

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

Mask Mask::with(HiddenRows rule, Index queries, Index keys, Index diagonal) const {
    Mask m = *this;
    m.blind_.reset();
    if (rule == HiddenRows::zero || !hides()) return m;
    BlindQueries blind{rule, {}};
    for (Index r = 0; r < queries; ++r) {
        if (cover_by_rules(m, {r, 1}, {0, keys}, diagonal) != Cover::hidden) continue;
        if (blind.spans.empty() || blind.spans.back().end() != r) blind.spans.push_back({r, 0});
        ++blind.spans.back().size;
    }
    if (!blind.spans.empty()) m.blind_ = std::make_shared<const BlindQueries>(std::move(blind));
    return m;
}

bool operator==(const Mask& a, const Mask& b) {
    const auto same = [](const auto& x, const auto& y) { return x == y || (x && y && *x == *y); };
    return a.left_ == b.left_ && a.right_ == b.right_ && same(a.blocks_, b.blocks_) &&
           same(a.documents_, b.documents_) && same(a.blind_, b.blind_);
}

HiddenRows Mask::hidden_rows() const { return blind_ ? blind_->rule : HiddenRows::zero; }

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
    if (blind_) parts.push_back(std::string("hidden-rows ") + name_of(blind_->rule));
    return parts.empty() ? "none" : text::join(parts, ", ");
}

Seen Mask::visible(Tiles keys, Index diagonal) const {
    Seen seen(keys);
    if (blind_)
        return seen.and_not_hidden([m = *this, diagonal](Span r, Span k) { return m.cover(r, k, diagonal); },
                                   [m = *this, diagonal](Span r) {
                                       return blind_among(m, r) > 0 ? all_there_are : keys_reached(m, r, diagonal);
                                   });
    if (right_) seen = seen.and_before_end(diagonal + *right_);
    if (left_) seen = seen.and_after_begin(diagonal - *left_);
    if (patterned())
        seen = seen.and_not_hidden([m = *this, diagonal](Span r, Span k) { return m.cover(r, k, diagonal); },
                                   [m = *this, diagonal](Span r) { return keys_reached(m, r, diagonal); });
    return seen;
}

Seen Mask::seeing(Tiles rows, Index diagonal) const {
    Seen seen(rows);
    if (blind_)
        return seen.and_not_hidden([m = *this, diagonal](Span k, Span r) { return m.cover(r, k, diagonal); },
                                   [](Span) { return all_there_are; });
    if (right_) seen = seen.and_after_begin(-diagonal - *right_);
    if (left_) seen = seen.and_before_end(-diagonal + *left_);
    if (patterned())
        seen = seen.and_not_hidden([m = *this, diagonal](Span k, Span r) { return m.cover(r, k, diagonal); },
                                   [m = *this, diagonal](Span k) { return rows_reached(m, k, diagonal); });
    return seen;
}

bool Mask::sees(Index row, Index key, Index diagonal) const {
    return ((!right_ || key <= row + diagonal + *right_) && (!left_ || key >= row + diagonal - *left_) &&
            pattern_sees(*this, row, key, diagonal)) ||
           blind_among(*this, {row, 1}) > 0;
}

Cover Mask::cover(Span rows, Span keys, Index diagonal) const {
    const Index blind = blind_among(*this, rows);
    if (blind == rows.size) return Cover::whole;
    return blind > 0 ? Cover::partial : cover_by_rules(*this, rows, keys, diagonal);
}

Count Mask::pairs(Span rows, Span keys, Index diagonal) const {
    const auto of_band = [&](Span part, Span across) {
        const Cover all = band(*this, part, across, diagonal);
        if (all != Cover::partial) return all == Cover::whole ? part.size * across.size : 0;
        Count seen = 0;
        for (Index r = part.begin + diagonal; r < part.end() + diagonal; ++r) {
            const Index first = left_ ? std::max(across.begin, r - *left_) : across.begin;
            const Index end = right_ ? std::min(across.end(), r + *right_ + 1) : across.end();
            seen += std::max<Index>(0, end - first);
        }
        return seen;
    };
    Count pairs = blind_among(*this, rows) * keys.size;  // other rules hide all keys from these
    if (!(blocks_ || documents_)) return pairs + of_band(rows, keys);
    each_part(*this, rows, keys, diagonal, [&](Span part, Span across, bool sees) {
        if (sees) pairs += of_band(part, across);
        return true;
    });
    return pairs;
}

void Mask::apply(Block& b, Tile& s, Span rows, Span keys, Index diagonal, Index of_a_query, Here here) const {
    const Index first = rows.begin / of_a_query, queries = ceil_div(rows.end(), of_a_query) - first;
    const auto query = [&](Index r) { return (rows.begin + r) / of_a_query; };
    if (hidden_rows() == HiddenRows::mean && blind_among(*this, {first, queries}) > 0)
        level_rows(
            b, s, [&](Index r) { return blind_->has(query(r)); }, here);
    if (cover({first, queries}, keys, diagonal) == Cover::whole) return;
    if (blind_among(*this, {first, queries}) > 0) {
        mask_where(
            b, s, [&](Index r, Index c) { return !sees(query(r), keys.begin + c, diagonal); }, here);
        return;
    }
    const Index within = first + diagonal - keys.begin;  // the first query's diagonal, as a column of the tile
    const Stairs stairs{of_a_query, rows.begin % of_a_query};
    if (right_ && keys.size - 1 > within + *right_) mask_above_diagonal(b, s, within + *right_, stairs, here);
    if (left_ && within + queries - 1 - *left_ > 0) mask_below_diagonal(b, s, within - *left_, stairs, here);
    if (blocks_ || documents_)
        mask_where(
            b, s, [&](Index r, Index c) { return !pattern_sees(*this, query(r), keys.begin + c, diagonal); }, here);
}

}  // namespace tilescope
