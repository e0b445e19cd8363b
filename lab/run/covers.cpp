#include "lab/run/covers.hpp"

#include <algorithm>

#include "algorithms/contract/block_mask.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
namespace {

/// The data of the mask itself: a kernel would have to read it, and the model leaves it out.
std::string own_bytes(const Mask& m) {
    std::vector<std::string> read;
    if (const Documents* d = m.documents()) read.push_back(text::counted(d->count(), "length"));
    if (const BlockMask* b = m.blocks()) read.push_back(text::counted(b->rows * b->cols, "block"));
    return read.empty() ? "The mask is computed from positions: it has no bytes"
                        : "The mask's own bytes are not charged: it has " + text::listed(read) + " for all heads";
}

/// The share of scores that are computed and then masked, in tiles that are not skipped; "" where counting would take
/// long: beyond 2^20 tiles, or 2^27 scores in tiles that the mask crosses.
std::string wasted(const Problem& p, const Tiling& tiling, const TileCovers& covers) {
    constexpr Count most_tiles = Count{1} << 20, most_scores = Count{1} << 27;
    if (covers.all() > most_tiles || covers.partial * tiling.br * tiling.bc > most_scores) return "";
    const Tiles rows(p.seq_q, tiling.br), keys(p.seq_k, tiling.bc);
    Count computed = 0, masked = 0;
    for (Index i = 0; i < rows.count(); ++i) {
        const Tiles visible = p.visible_keys(keys, rows[i]);
        for (Index j = 0; j < visible.count(); ++j) {
            const Span r = rows[i], k = visible[j];
            computed += r.size * k.size;
            if (p.cover(r, k) == Cover::whole) continue;
            for (Index row = r.begin; row < r.end(); ++row)
                for (Index key = k.begin; key < k.end(); ++key) masked += !p.sees(row, key);
        }
    }
    const double share = static_cast<double>(masked) / static_cast<double>(std::max<Count>(1, computed));
    return "Of the scores in tiles that are not skipped, " + text::number(100 * share) + "% are masked. ";
}

}  // namespace

TileCovers covers_of(const Problem& p, const Tiling& tiling) {
    const Tiles rows(p.seq_q, tiling.br), keys(p.seq_k, tiling.bc);
    const Seen seen = p.visible(keys);
    TileCovers c;
    for (Index i = 0; i < rows.count(); ++i) {
        const Tiles visible = seen(rows[i]);
        const Index partial = seen.partial(rows[i], visible);
        c.hidden += keys.count() - visible.count(), c.partial += partial, c.whole += visible.count() - partial;
    }
    return c;
}

const char* corner_words(const Problem& p) { return p.corner == Corner::top_left ? " from the top left" : ""; }

std::string mask_words(const Problem& p) { return p.mask.name() + (p.mask.hides() ? corner_words(p) : ""); }

std::string about_mask(const Experiment& e) {
    const Mask& m = e.problem.mask;
    if (!m.hides() || e.tiling.br == 0 || e.tiling.bc == 0) return "";
    const TileCovers c = covers_of(e.problem, e.tiling);
    const auto share = [&](Count n) {
        return text::grouped(n) + " (" + text::percent(static_cast<double>(n) / static_cast<double>(c.all())) + ')';
    };
    return "Mask: " + mask_words(e.problem) + ". Of a head's " + text::counted(c.all(), "tile") + ", " +
           share(c.hidden) + " are hidden, and skipped by whoever can, " + share(c.partial) +
           " are masked in part and " + share(c.whole) + " are whole. " + wasted(e.problem, e.tiling, c) +
           own_bytes(m) + '.';
}

}  // namespace tilescope::lab
