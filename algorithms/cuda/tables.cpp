#include "algorithms/cuda/tables.hpp"

#include "algorithms/contract/block_mask.hpp"

namespace tilescope {
namespace {

std::int32_t narrow(Index n) { return static_cast<std::int32_t>(n); }

void list_visits(KernelTables& t, const Problem& p, const Tiling& tile) {
    const Tiles rows(p.seq_q, tile.br), keys(p.seq_k, tile.bc);
    for (Index i = 0; i < rows.count(); ++i) {
        std::vector<std::int32_t> partial;
        t.first.push_back(narrow(static_cast<Index>(t.visits.size())));
        const Tiles visible = p.visible_keys(keys, rows[i]);
        for (Index k = 0; k < visible.count(); ++k) {
            const Span j = visible[k];
            const bool whole = j.size == tile.bc && p.cover(rows[i], j) == Cover::whole;
            (whole ? t.visits : partial).push_back(narrow(j.begin / tile.bc));
        }
        t.first.push_back(narrow(static_cast<Index>(t.visits.size())));
        t.visits.insert(t.visits.end(), partial.begin(), partial.end());
        t.first.push_back(narrow(static_cast<Index>(t.visits.size())));
    }
}

void list_documents(KernelTables& t, const Problem& p, const Documents& documents) {
    for (Index r = 0; r < p.seq_q; ++r) {
        const Index d = documents.at(r + p.diagonal());
        t.documents.push_back(narrow(d < 1 ? 0 : documents.end_of(d - 1)));
        t.documents.push_back(narrow(documents.end_of(d)));
    }
}

}  // namespace

bool scores_are_changed(const Problem& p) { return p.bias || p.alibi > 0 || p.soft_cap || p.dropout; }

bool scores_are_plain(const Problem& p) { return (!p.mask.hides() || p.mask.is_causal()) && !scores_are_changed(p); }

KernelTables tables_of(const Problem& p, const Tiling& tile) {
    KernelTables t;
    if (scores_are_plain(p)) return t;
    list_visits(t, p, tile);
    if (const Documents* documents = p.mask.documents()) list_documents(t, p, *documents);
    if (const BlockMask* blocks = p.mask.blocks()) t.blocks.assign(blocks->seen.begin(), blocks->seen.end());
    for (Index head = 0; head < p.batch_heads(); ++head) {
        for (std::size_t k = 0; k < p.bias.terms.size(); ++k)
            t.bias_slices[k].push_back(narrow(p.bias.slice_of(p.bias.terms[k], head, p.heads)));
        if (p.alibi > 0) t.slopes.push_back(alibi_slope(head % p.heads, p.alibi));
    }
    return t;
}

}  // namespace tilescope
