#include "algorithms/contract/tile_sums.hpp"

namespace tilescope {
namespace {

struct KeyBlocks {
    Index first, end;
};

/// The key blocks that row block i visits: none where end <= first.
KeyBlocks visited(const Problem& p, const Tiling& t, Index i) {
    const Index Nq = p.seq_q, Nk = p.seq_k, g = p.packed, delta = Nk - Nq / g;
    if (!p.mask.hides()) return {0, ceil_div(Nk, t.bc)};
    const Index right = p.mask.right().value_or(Nk + Nq), left = p.mask.left().value_or(Nk + Nq);
    const Index first_row = i * t.br, last_row = std::min(first_row + t.br, Nq) - 1;
    // The last row sees up to here, the first one from there on.
    const Index end = std::min(last_row / g + 1 + delta + right, Nk),
                begin = std::max<Index>(first_row / g + delta - left, 0);
    if (end <= 0 || begin >= Nk) return {0, 0};
    return {begin / t.bc, ceil_div(end, t.bc)};
}

}  // namespace

TileSums tile_sums(const Problem& p, const Tiling& t, bool skip) {
    const Index Nq = p.seq_q, Nk = p.seq_k, Tr = ceil_div(Nq, t.br), Tc = ceil_div(Nk, t.bc);
    if (!p.mask.hides() || !skip) return {Tr, Tc, Tc * Nq, Tr * Nk, Nk, Nq * Nk};
    TileSums s{.row_blocks = Tr, .key_blocks = Tc};
    const Index queries = Nq / p.packed, delta = Nk - queries;
    const Index right = p.mask.right().value_or(Nk + Nq), left = p.mask.left().value_or(Nk + Nq);
    for (Index i = 0; i < Tr; ++i) {
        const Index rows = std::min(t.br, Nq - i * t.br);
        const auto [first, end] = visited(p, t, i);
        if (first >= end) continue;
        const Index keys = std::min(end * t.bc, Nk) - first * t.bc;
        s.row_visits += rows * (end - first);
        s.keys_streamed += keys;
        s.scores += rows * keys;
    }
    for (Index j = 0; j < Tc; ++j) {
        const Index first = j * t.bc, last = std::min(first + t.bc, Nk) - 1;
        // Of the queries that see any of these keys there is one at all.
        const Index from = std::max<Index>(first - delta - right, 0), to = std::min(last - delta + left, queries - 1);
        if (from <= to && from < queries) s.keys_active += last - first + 1;
    }
    return s;
}

Index part_visits(const Problem& p, const Tiling& t, Index of_a_part) {
    if (!p.mask.hides()) return ceil_div(ceil_div(p.seq_k, t.bc), of_a_part) * p.seq_q;
    Index visits = 0;
    for (Index i = 0; i < ceil_div(p.seq_q, t.br); ++i)
        if (const auto [first, end] = visited(p, t, i); first < end)
            visits += std::min(t.br, p.seq_q - i * t.br) * (ceil_div(end, of_a_part) - first / of_a_part);
    return visits;
}

}  // namespace tilescope
