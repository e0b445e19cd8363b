#include "lab/run/covers.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "algorithms/contract/block_mask.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// Which keys around its own place a query sees.
std::string band_words(const Mask& m) {
    if (!m.left() && m.right() == 0) return message("covers.causal");
    const auto bound = [](const std::optional<Index>& n) { return n ? std::to_string(*n) : std::string("-"); };
    return message("covers.window", bound(m.left()), bound(m.right()));
}

/// The data of the mask itself: a kernel would have to read it, and the model leaves it out.
std::string own_bytes(const Mask& m) {
    std::vector<std::string> read;
    if (const Documents* d = m.documents()) read.push_back(message("covers.lengths", d->count()));
    if (const BlockMask* b = m.blocks()) read.push_back(message("covers.blocks", b->rows * b->cols));
    return read.empty() ? message("covers.no_bytes") : message("covers.own_bytes", text::listed(read));
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
    return message("covers.wasted", text::number(100 * share));
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

std::string mask_words(const Problem& p) {
    const Mask& m = p.mask;
    std::vector<std::string> parts;
    if (m.left() || m.right()) parts.push_back(band_words(m));
    if (const Documents* d = m.documents()) parts.push_back(message("covers.documents", d->count()));
    if (const BlockMask* b = m.blocks())
        parts.push_back(message("covers.in_blocks", text::shown(b->name), std::to_string(b->block_rows),
                                std::to_string(b->block_cols)));
    const std::string all = text::join(parts, ", ");
    const std::string placed = m.hides() && p.corner == Corner::top_left ? message("covers.from_top_left", all) : all;
    if (!m.blind()) return placed;
    const bool mean = m.hidden_rows() == HiddenRows::mean;
    return placed + ", " + message(mean ? "covers.hidden_rows_mean" : "covers.hidden_rows_unmasked");
}

std::string about_mask(const Experiment& e) {
    const Mask& m = e.problem.mask;
    if (!m.hides() || e.tiling.br == 0 || e.tiling.bc == 0) return "";
    const TileCovers c = covers_of(e.problem, e.tiling);
    const auto share = [&](Count n) { return text::percent(static_cast<double>(n) / static_cast<double>(c.all())); };
    std::vector<std::string> all = {message("covers.mask", mask_words(e.problem)),
                                    message("covers.tiles", c.all(), c.hidden, share(c.hidden), c.partial,
                                            share(c.partial), c.whole, share(c.whole))};
    if (const std::string share_wasted = wasted(e.problem, e.tiling, c); !share_wasted.empty())
        all.push_back(share_wasted);
    all.push_back(own_bytes(m));
    return text::sentences(all);
}

}  // namespace tilescope::lab
