#include "show/words/warps_text.hpp"

#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

std::string exact_bytes(Bytes n) { return text::grouped(n) + " B"; }
std::string shape_of_tile(Index rows, Index cols) { return std::to_string(rows) + " x " + std::to_string(cols); }

/// A warp's share of rows or keys: whole fragments of mma.sync, 16 along either side.
std::string share_of(Index of, Index warps, WarpSplit split) {
    constexpr Index fragment = 16;
    const Index share = std::min(of, ceil_div(of, fragment * warps) * fragment);
    const bool keys = split == WarpSplit::keys, even = share * warps == of;
    return message(keys ? (even ? "warps.share_of_keys" : "warps.share_of_keys_at_most")
                        : (even ? "warps.share_of_rows" : "warps.share_of_rows_at_most"),
                   share, of);
}

/// The two ways to divide one tile among warps.
struct Rivals {
    const Experiment& e;
    const ReleasedWarps& released;
    Warps keys = {released.warps.number, WarpSplit::keys, released.warps.keeps_keys},
          rows = {released.warps.number, WarpSplit::rows};

    const Problem& problem() const { return e.problem; }
    Index number() const { return keys.number; }
    Index br() const { return e.tiling.br; }
    Index bc() const { return e.tiling.bc; }
    bool can(const Warps& w) const { return possible(w, e.tiling); }
    WarpBytes tile(const Warps& w) const { return of_tile(w, problem(), br(), bc()); }
};

std::string two_ways(const Rivals& r) {
    const std::string keys =
        r.can(r.keys) ? share_of(r.bc(), r.number(), WarpSplit::keys) : message("warps.part_of_keys");
    const std::string rows =
        r.can(r.rows) ? share_of(r.br(), r.number(), WarpSplit::rows) : message("warps.part_of_rows");
    return message("warps.two_ways", r.number(), keys, rows);
}

std::vector<std::vector<std::string>> table_of(const Rivals& r) {
    const auto row = [&](const std::string& name, auto&& of) {
        std::vector<std::string> cells = {name};
        for (const Warps& w : {r.keys, r.rows}) cells.push_back(r.can(w) ? of(w) : "-");
        return cells;
    };
    const auto bytes = [&](const std::string& name, Bytes WarpBytes::*part) {
        return row(name, [&](const Warps& w) {
            const bool kept = w.keeps_keys && part == &WarpBytes::kv;
            return kept ? message("warps.in_registers") : exact_bytes(r.tile(w).*part);
        });
    };
    return {
        {message("warps.tile_of", shape_of_tile(r.br(), r.bc())), message("warps.split_k"), message("warps.split_q")},
        bytes(message("warps.q_read"), &WarpBytes::q),
        bytes(message("warps.kv_read"), &WarpBytes::kv),
        bytes(message("warps.statistics_exchanged"), &WarpBytes::statistics),
        bytes(message("warps.outputs_exchanged"), &WarpBytes::outputs),
        row(message("warps.together"), [&](const Warps& w) { return exact_bytes(r.tile(w).total()); }),
        row(message("warps.bytes_per_score"),
            [&](const Warps& w) {
                return text::tenths(static_cast<double>(r.tile(w).total()) / static_cast<double>(r.br() * r.bc()));
            }),
        row(message("warps.whole_run"), [&](const Warps& w) { return text::bytes(of_run(w, r.e).total()); })};
}

/// Why a split is not possible.
std::string cannot(const Rivals& r, const Warps& w) {
    const bool by_rows = w.split == WarpSplit::rows;
    return message(by_rows ? "warps.cannot_split_q" : "warps.cannot_split_k", std::to_string(least_share), r.number(),
                   std::to_string(least_share * r.number()), std::to_string(by_rows ? r.br() : r.bc()));
}

std::string winner(const Rivals& r) {
    const Bytes by_keys = r.tile(r.keys).total(), by_rows = r.tile(r.rows).total();
    if (by_keys == by_rows) return message("warps.both_even");
    const double times =
        static_cast<double>(std::max(by_keys, by_rows)) / static_cast<double>(std::min(by_keys, by_rows));
    return message(by_keys > by_rows ? "warps.split_q_wins" : "warps.split_k_wins", text::number(times));
}

/// The shape of the tile from which on the other split is better.
std::string turning_point(const Rivals& r, double even) {
    const Index least = least_share * r.number();
    const double even_br = static_cast<double>(r.bc()) / even;
    const std::string at_bc = message("warps.even_at_bc", std::to_string(r.bc()), text::tenths(even_br));
    std::vector<std::string> all = {message("warps.turning_point", text::number(even))};
    if (r.can(r.rows))
        all.push_back(
            message("warps.even_at_br", std::to_string(r.br()), text::tenths(even * static_cast<double>(r.br()))));
    if (even_br <= static_cast<double>(least))
        all.push_back(message("warps.split_q_from", at_bc, std::to_string(least)));
    else
        all.push_back(r.can(r.rows) ? message("warps.sentence", at_bc)
                                    : message("warps.split_q_possible_from", at_bc, std::to_string(least)));
    return text::sentences(all);
}

/// "FlashAttention-2's released kernel (tiles of 128 x 128, 4 warps) has split Q."
std::string released_kernel(const ReleasedWarps& k) {
    const std::string split = message(k.warps.split == WarpSplit::keys ? "warps.split_k_named" : "warps.split_q_named");
    return k.tiling.br > 0
               ? message("warps.released", k.kernel, shape_of_tile(k.tiling.br, k.tiling.bc), k.number, split)
               : message("warps.released_of_any_tile", k.kernel, k.number, split);
}

/// Where K_j and V_j are, in a kernel that keeps them on chip for many row blocks.
std::string kept_keys(const Rivals& r) {
    return message(r.keys.keeps_keys ? "warps.keeps_keys" : "warps.reads_keys_again",
                   registers_of_keys(r.number(), r.problem(), r.bc()));
}

std::vector<std::string> verdict_on(const Rivals& r) {
    std::vector<std::string> all = {released_kernel(r.released)};
    if (r.number() == 1) {
        all.push_back(message("warps.one_warp"));
        return all;
    }
    if (r.released.warps.split == WarpSplit::keys) all[0] = text::sentences({all[0], kept_keys(r)});
    for (const Warps& w : {r.keys, r.rows})
        if (!r.can(w)) all.push_back(cannot(r, w));
    if (!r.can(r.rows) && r.problem().seq_q < least_share * r.number() && r.released.tiling.br > 0)
        all.push_back(message("warps.few_rows"));
    if (r.can(r.keys) && r.can(r.rows)) all.push_back(winner(r));
    if (const auto even = even_width(r.keys, r.problem()); even && r.can(r.keys))
        all.push_back(turning_point(r, *even));
    return all;
}

std::string what_it_is(const Problem& p) {
    std::vector<std::string> all = {message("warps.what_it_is")};
    if (p.dtype == Dtype::f32) all.push_back(message("warps.released_types"));
    return text::sentences(all);
}

WarpsText of_exchange(const Experiment& e, const ReleasedExchange& x) {
    const std::string bytes = exact_bytes(x.bytes);
    std::string words;
    if (x.partial_sums && x.warps == 1)
        words = message("warps.exchange_of_one", x.kernel, x.own);
    else if (x.partial_sums)
        words = message("warps.exchange_of_sums", x.kernel, x.own, std::to_string(x.warps),
                        shape_of_tile(e.tiling.br, e.problem.dim), bytes);
    else
        words = message("warps.exchange_of_operands", x.kernel, x.own, shape_of_tile(e.tiling.br, e.tiling.bc), bytes);
    return {message("warps.exchange_title"), {words, message("warps.within_an_sm")}, {}, {}};
}

}  // namespace

WarpsText warps_text(const Experiment& e, Index number) {
    if (const auto exchange = released_exchange(e, number)) return of_exchange(e, *exchange);
    const auto released = released_warps(e, number);
    if (!released) return {};
    const Rivals r{e, *released};
    WarpsText t{message("warps.title"), {}, {}, {}};
    if (r.number() > 1) t.before = {two_ways(r)};
    if (r.number() > 1 && (r.can(r.keys) || r.can(r.rows))) t.table = table_of(r);
    t.after = verdict_on(r);
    if (!t.table.empty()) t.after.push_back(what_it_is(r.problem()));
    return t;
}

}  // namespace tilescope::show
