#include "algorithms/contract/tile_sums.hpp"

#include <vector>

#include "algorithms/contract/block_mask.hpp"

namespace tilescope {
namespace {

struct KeyBlocks {
    Index first, end;
};

/// The key on the diagonal of a query. There need not be such a key.
Index place_of(const Problem& p, Index query) {
    return p.corner == Corner::top_left ? query : query + p.seq_k - p.seq_q / p.packed;
}

/// The keys that a query's band (causal, window) lets it see: none where end <= first.
KeyBlocks band_of(const Problem& p, Index query) {
    const Index Nk = p.seq_k, place = place_of(p, query), far = Nk + p.seq_q;
    return {std::max<Index>(place - p.mask.left().value_or(far), 0),
            std::min(place + p.mask.right().value_or(far) + 1, Nk)};
}

/// Those of `keys` that are in the query's document.
KeyBlocks in_document(const Problem& p, Index query, KeyBlocks keys) {
    if (!p.mask.documents()) return keys;
    const Index place = std::min(place_of(p, query), p.seq_k - 1);  // queries past the end are in the last document
    Index begin = 0;
    for (const Index length : p.mask.documents()->lengths()) {
        if (place >= begin && place < begin + length)
            return {std::max(keys.first, begin), std::min(keys.end, begin + length)};
        begin += length;
    }
    return {0, 0};
}

/// For each key block, whether any row of row block i sees a key in it. A block mask is asked once per mask block.
std::vector<bool> seen_by_rows(const Problem& p, const Tiling& t, Index i) {
    std::vector<bool> seen(static_cast<std::size_t>(ceil_div(p.seq_k, t.bc)));
    for (Index q = i * t.br / p.packed; q * p.packed < std::min((i + 1) * t.br, p.seq_q); ++q) {
        const auto [first, end] = in_document(p, q, band_of(p, q));
        const BlockMask* m = p.mask.blocks();
        bool sees = false;
        for (Index k = first, to = 0; k < end; k = to) {
            to = m ? std::min(end, (k / m->block_cols + 1) * m->block_cols) : end;
            if (m && !m->sees(q, k)) continue;
            sees = true;
            for (Index j = k / t.bc; j * t.bc < to; ++j) seen[static_cast<std::size_t>(j)] = true;
        }
        if (!sees && p.mask.hidden_rows() != HiddenRows::zero) seen.assign(seen.size(), true);
    }
    return seen;
}

/// The key blocks that row block i visits, as runs of neighbours in order.
std::vector<KeyBlocks> visited(const Problem& p, const Tiling& t, Index i) {
    if (!p.mask.hides()) return {{0, ceil_div(p.seq_k, t.bc)}};
    std::vector<KeyBlocks> runs;
    if (p.mask.patterned()) {
        const std::vector<bool> seen = seen_by_rows(p, t, i);
        for (Index j = 0; j < static_cast<Index>(seen.size()); ++j) {
            if (!seen[static_cast<std::size_t>(j)]) continue;
            if (runs.empty() || runs.back().end != j) runs.push_back({j, j});
            ++runs.back().end;
        }
        return runs;
    }
    // The first row sees keys from `begin` on, the last row sees keys up to `end`.
    const Index begin = band_of(p, i * t.br / p.packed).first;
    const Index end = band_of(p, (std::min((i + 1) * t.br, p.seq_q) - 1) / p.packed).end;
    if (begin < end && end > 0 && begin < p.seq_k) runs.push_back({begin / t.bc, ceil_div(end, t.bc)});
    return runs;
}

/// Ka for a mask that is a band: a key block counts if any query sees one of its keys.
Index keys_in_band(const Problem& p, const Tiling& t) {
    const Index Nk = p.seq_k, queries = p.seq_q / p.packed, delta = place_of(p, 0), far = Nk + p.seq_q;
    const Index right = p.mask.right().value_or(far), left = p.mask.left().value_or(far);
    Index keys = 0;
    for (Index first = 0; first < Nk; first += t.bc) {
        const Index last = std::min(first + t.bc, Nk) - 1;
        // Queries from `from` to `to` see some of these keys.
        const Index from = std::max<Index>(first - delta - right, 0), to = std::min(last - delta + left, queries - 1);
        if (from <= to && from < queries) keys += last - first + 1;
    }
    return keys;
}

}  // namespace

TileSums tile_sums(const Problem& p, const Tiling& t, bool skip) {
    const Index Nq = p.seq_q, Nk = p.seq_k, Tr = ceil_div(Nq, t.br), Tc = ceil_div(Nk, t.bc);
    if (!p.mask.hides() || !skip) return {Tr, Tc, Tc * Nq, Tr * Nk, Nk, Nq, Nq * Nk};
    TileSums s{.row_blocks = Tr, .key_blocks = Tc};
    std::vector<bool> active(p.mask.patterned() ? static_cast<std::size_t>(Tc) : 0);
    for (Index i = 0; i < Tr; ++i) {
        const Index rows = std::min(t.br, Nq - i * t.br);
        const std::vector<KeyBlocks> runs = visited(p, t, i);
        if (!runs.empty()) s.rows_active += rows;
        for (const auto [first, end] : runs) {
            const Index keys = std::min(end * t.bc, Nk) - first * t.bc;
            s.row_visits += rows * (end - first);
            s.keys_streamed += keys;
            s.scores += rows * keys;
            for (Index j = first; j < end && !active.empty(); ++j) active[static_cast<std::size_t>(j)] = true;
        }
    }
    if (active.empty()) s.keys_active = keys_in_band(p, t);
    for (Index j = 0; j < static_cast<Index>(active.size()); ++j)
        if (active[static_cast<std::size_t>(j)]) s.keys_active += std::min(t.bc, Nk - j * t.bc);
    return s;
}

ElementBytes element_bytes(const Problem& p) {
    return {size_of(p.query_type()), size_of(p.key_type()), size_of(p.output_type())};
}

Prediction of_weight_range(const Problem& p, const TileSums& s) {
    const Count flops = (p.p_scale != 1 ? s.row_visits + p.seq_q : 0) + (p.stale_max != 0 ? 2 * s.row_visits : 0);
    return {0, 0, 0, 0, flops};
}

Prediction of_finishing(const Problem& p, const TileSums& s, Index times) {
    Prediction more;
    for (const BiasTerm& t : p.bias.terms) {
        more.hbm_read += (t.by_query ? s.scores : s.keys_streamed) * size_of(p.output_type());
        more.other_flops += s.scores;
    }
    if (p.alibi > 0) more.other_flops += 2 * s.scores;
    if (p.soft_cap) more.exps += s.scores;
    return more.times(times);
}

Prediction of_dropping(const Problem& p, const TileSums& s) {
    if (!p.dropout) return {};
    const bool stored = p.dropout.stored;
    return {stored ? s.scores : 0, stored ? p.seq_q * p.seq_k : 0, 0, 0, s.scores};
}

Prediction of_finishing_gradients(const Problem& p, const TileSums& s) {
    Prediction more = of_finishing(p, s);
    if (p.soft_cap) more.other_flops += 3 * s.scores;
    if (p.dropout) more.other_flops += 2 * s.scores;
    if (p.dropout && p.dropout.stored) more.hbm_read += 2 * s.scores;
    return more;
}

Index page_entries(const Problem& p, const Tiling& t) {
    const Index P = p.pages.size, Nk = p.seq_k;
    if (P == 0) return 0;
    std::vector<Index> before = {0};  // pages of all key blocks before block j; a page in two blocks counts twice
    for (Index j = 0; j * t.bc < Nk; ++j)
        before.push_back(before.back() + (std::min((j + 1) * t.bc, Nk) - 1) / P - j * t.bc / P + 1);
    Index entries = 0;
    for (Index i = 0; i < ceil_div(p.seq_q, t.br); ++i)
        for (const auto [first, end] : visited(p, t, i))
            entries += before[static_cast<std::size_t>(end)] - before[static_cast<std::size_t>(first)];
    return entries;
}

namespace {

/// The parts of which row block i sees any key.
Index parts_of(const Problem& p, const Tiling& t, Index of_a_part, Index i) {
    Index parts = 0, counted = 0;  // parts before `counted` are counted
    for (const auto [first, end] : visited(p, t, i)) {
        const Index from = std::max(first / of_a_part, counted), to = ceil_div(end, of_a_part);
        parts += std::max<Index>(0, to - from), counted = to;
    }
    return parts;
}

}  // namespace

namespace {

/// Sums over tiles of scales of blocks of rows. Of a tile's keys, n scales are several where n > 1.
struct ScaleSums {
    Index queries = 0;           ///< scales of row blocks, as often as these run
    Index queries_in_tiles = 0;  ///< the same for every tile
    Index joined = 0;            ///< those of tiles whose keys have a single scale
    Index scores = 0;            ///< elements of tiles whose keys have several
    Index keys = 0, spread = 0;  ///< n of every tile; 2n - 1 where there are several
};

/// Sums over the first key blocks: 0, 1, ... of them.
class KeyScales {
  public:
    KeyScales(const Problem& p, const Tiling& t) {
        for (Index first = 0; first < p.seq_k; first += t.bc) {
            const Index end = std::min(first + t.bc, p.seq_k), n = touched({first, end}, p.scale_block);
            ScaleSums s = upto_.back();
            s.keys += n, s.joined += n == 1, s.scores += n > 1 ? end - first : 0, s.spread += n > 1 ? 2 * n - 1 : 0;
            upto_.push_back(s);
        }
    }
    /// How many blocks of g rows these rows lie in.
    static Index touched(KeyBlocks rows, Index g) { return (rows.end - 1) / g - rows.first / g + 1; }

    /// Adds tiles of these key blocks, of so many rows with so many scales.
    void add(KeyBlocks of, Index rows, Index queries, ScaleSums& to) const {
        const auto &a = upto_[static_cast<std::size_t>(of.first)], &b = upto_[static_cast<std::size_t>(of.end)];
        to.queries_in_tiles += queries * (of.end - of.first);
        to.joined += queries * (b.joined - a.joined), to.scores += rows * (b.scores - a.scores);
        to.keys += b.keys - a.keys, to.spread += b.spread - a.spread;
    }

  private:
    std::vector<ScaleSums> upto_ = {{}};
};

ScaleSums scale_sums(const Problem& p, const Tiling& t, const ScaleVisits& v) {
    const KeyScales keys(p, t);
    const Index Tc = ceil_div(p.seq_k, t.bc);
    const bool all = v.loop == ScaleLoop::by_tiles;
    std::vector<Index> begins(static_cast<std::size_t>(Tc) + 1);  // how many runs begin less how many end
    ScaleSums s;
    for (Index i = 0; i < ceil_div(p.seq_q, t.br); ++i) {
        const Index first = i * t.br, end = std::min(first + t.br, p.seq_q);
        const Index n = KeyScales::touched({first, end}, p.scale_block * p.packed);
        s.queries += n * (v.blocks_of_a_part > 0 ? parts_of(p, t, v.blocks_of_a_part, i) : 1);
        for (const KeyBlocks run : all ? std::vector<KeyBlocks>{{0, Tc}} : visited(p, t, i)) {
            keys.add(run, end - first, n, s);
            ++begins[static_cast<std::size_t>(run.first)], --begins[static_cast<std::size_t>(run.end)];
        }
    }
    if (v.loop != ScaleLoop::by_keys) return s;
    ScaleSums active;
    for (Index j = 0, seen = 0; j < Tc; ++j)
        if (seen += begins[static_cast<std::size_t>(j)]; seen > 0) keys.add({j, j + 1}, 0, 0, active);
    s.keys = active.keys, s.spread = active.spread;
    return s;
}

}  // namespace

Prediction of_score_scales(const Problem& p, const Tiling& t, const ScaleVisits& v) {
    if (!p.scaled(p.key_type())) return {};
    const bool both = p.scaled(p.query_type());
    constexpr Bytes f = size_of(Dtype::f32);
    if (p.scales != Scaling::block) return {(both ? 2 : 1) * v.blocks * f, 0, 0, 0, both ? v.blocks : 0};
    const ScaleSums s = scale_sums(p, t, v);
    const Index queries = !both ? 0 : v.loop == ScaleLoop::by_rows ? s.queries : s.queries_in_tiles;
    return {f * (queries + v.times * s.keys), 0, 0, 0, v.times * (s.scores + (both ? s.joined : 0))};
}

Prediction of_value_scales(const Problem& p, const Tiling& t, const ScaleVisits& v) {
    if (!p.scaled(p.key_type())) return {};
    constexpr Bytes f = size_of(Dtype::f32);
    if (p.scales != Scaling::block) return {v.blocks * f};
    const ScaleSums s = scale_sums(p, t, v);
    return {f * s.keys, 0, 0, 0, s.scores + s.spread};
}

PartVisits part_visits(const Problem& p, const Tiling& t, Index of_a_part) {
    const Index row_blocks = ceil_div(p.seq_q, t.br);
    if (!p.mask.hides()) {
        const Index parts = parts_of(p, t, of_a_part, 0);
        return {parts * p.seq_q, parts * row_blocks};
    }
    PartVisits visits;
    for (Index i = 0; i < row_blocks; ++i) {
        const Index parts = parts_of(p, t, of_a_part, i);
        visits.rows += std::min(t.br, p.seq_q - i * t.br) * parts, visits.blocks += parts;
    }
    return visits;
}

}  // namespace tilescope
