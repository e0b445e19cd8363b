#include "lab/model/warps.hpp"

#include "core/text/message.hpp"
#include "lab/model/published_tiles.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr Index lanes = 32, bytes_of_register = 4, most_registers_of_a_thread = 255;

/// Rows and keys, summed over the tiles that a head visits.
struct Visited {
    Count rows = 0, keys = 0;
};

Visited visited(const Problem& p, const Tiling& tiling) {
    const Tiles rows(p.seq_q, tiling.br), keys(p.seq_k, tiling.bc);
    const Seen visible = p.visible(keys);
    const Seen::Sum whole = visible.sums(rows).seeing;
    Visited v = {(whole.full + whole.ragged) * tiling.br,
                 whole.full * tiling.bc + whole.ragged * keys[keys.count() - 1].size};
    if (rows.ragged()) {
        const Span last = rows[rows.count() - 1];
        const Tiles seen = visible(last);
        v.rows += seen.count() * last.size, v.keys += seen.extent();
    }
    return v;
}

/// The number of a head's keys in key blocks of which any row sees a key.
Count keys_seen(const Problem& p, const Tiling& tiling) {
    const Tiles rows(p.seq_q, tiling.br), keys(p.seq_k, tiling.bc);
    const Seen seeing = p.seeing(rows);
    const Count whole = seeing.sums(keys).seeing.members * tiling.bc;
    const Span last = keys[keys.count() - 1];
    return whole + (keys.ragged() && seeing(last).count() > 0 ? last.size : 0);
}

/// `rows` and `keys` may be sums over tiles, because every term is proportional to one of them.
WarpBytes moved_by(const Warps& w, const Problem& p, Count rows, Count keys) {
    const Index W = w.number, d = p.dim, dv = p.dim_v, f = size_of(Dtype::f32);
    const Bytes q = rows * d * size_of(p.query_type()), of_keys = keys * (d + dv) * size_of(p.key_type());
    if (w.split == WarpSplit::rows) return {q, W * of_keys};
    const Bytes kv = w.keeps_keys ? 0 : of_keys;
    if (W == 1) return {q, kv};
    return {W * q, kv, 2 * f * (W + W * W) * rows, 2 * f * W * rows * dv};
}

/// The problem in a type that released kernels take: no released kernel takes f32.
Problem stored_in_half(Problem p) {
    if (p.dtype == Dtype::f32) p.dtype = Dtype::f16;
    if (p.q_dtype == Dtype::f32) p.q_dtype = Dtype::f16;
    return p;
}

}  // namespace

void validate_warps(Index number) {
    if (number < 1 || number > most_warps_of_a_block || (number & (number - 1)) != 0)
        throw BadValue("warps", std::to_string(number), message("warp_number.power_of_two", most_warps_of_a_block),
                       "4");
}

bool possible(const Warps& w, const Tiling& t) {
    return (w.split == WarpSplit::rows ? t.br : t.bc) >= (w.number > 1 ? least_share * w.number : 1);
}

WarpBytes of_tile(const Warps& w, const Problem& p, Index rows, Index keys) { return moved_by(w, p, rows, keys); }

WarpBytes of_run(const Warps& w, const Experiment& e) {
    const Problem& p = e.problem;
    const Visited v = visited(p, e.tiling);
    WarpBytes b = moved_by(w, p, v.rows, v.keys);
    if (w.split == WarpSplit::keys && w.keeps_keys)
        b.kv = keys_seen(p, e.tiling) * (p.dim + p.dim_v) * size_of(p.key_type());
    const Count heads = p.batch_heads();
    return {b.q * heads, b.kv * heads, b.statistics * heads, b.outputs * heads};
}

std::optional<double> even_width(const Warps& w, const Problem& p) {
    if (w.number == 1) return std::nullopt;
    const Warps by_keys = {w.number, WarpSplit::keys, w.keeps_keys}, by_rows = {w.number, WarpSplit::rows};
    const auto more = [&](const Warps& a, const Warps& b, Index rows, Index keys) {
        return static_cast<double>(of_tile(a, p, rows, keys).total() - of_tile(b, p, rows, keys).total());
    };
    return more(by_keys, by_rows, 1, 0) / more(by_rows, by_keys, 0, 1);
}

Index registers_of_keys(Index warps, const Problem& p, Index keys) {
    return ceil_div(keys * (p.dim + p.dim_v) * size_of(p.key_type()), warps * lanes * bytes_of_register);
}

std::optional<ReleasedWarps> released_warps(const Experiment& e, Index number) {
    const ReleasedKernel* released = e.algorithm->kernel->released;
    if (!released || !released->warps || released->exchanged) return std::nullopt;
    const Problem p = stored_in_half(e.problem);
    const Tiling own = e.gpu.compute_capability == "none" ? Tiling{} : published_tiling(*e.algorithm, p, e.gpu);
    const Index warps = number > 0 ? number : released->warps(p, e.tiling.br);
    const bool keeps = released->split == WarpSplit::keys &&
                       registers_of_keys(warps, e.problem, e.tiling.bc) <= most_registers_of_a_thread;
    return ReleasedWarps{
        {warps, released->split, keeps}, published_kernel(*released, p, e.gpu), own, released->warps(p, own.br)};
}

std::optional<ReleasedExchange> released_exchange(const Experiment& e, Index number) {
    const ReleasedKernel* released = e.algorithm->kernel->released;
    if (!released || !released->exchanged) return std::nullopt;
    const Index own = released->warps(e.problem, e.tiling.br), warps = number > 0 ? number : own;
    return ReleasedExchange{warps, own, published_kernel(*released, stored_in_half(e.problem), e.gpu),
                            released->split == WarpSplit::keys, released->exchanged(e.problem, e.tiling, warps)};
}

}  // namespace tilescope::lab
