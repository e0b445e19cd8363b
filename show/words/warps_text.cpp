#include "show/words/warps_text.hpp"

#include <algorithm>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

const char* name_of_split(WarpSplit split) { return split == WarpSplit::keys ? "split K" : "split Q"; }

std::string exact_bytes(Bytes n) { return text::grouped(n) + " B"; }
std::string shape_of_tile(Index rows, Index cols) { return std::to_string(rows) + " x " + std::to_string(cols); }

/// "32 of the 128 keys": whole fragments of mma.sync, 16 along either side.
std::string share_of(Index of, Index warps, const char* what) {
    constexpr Index fragment = 16;
    const Index share = std::min(of, ceil_div(of, fragment * warps) * fragment);
    return (share * warps == of ? "" : "up to ") + text::grouped(share) + " of the " + text::grouped(of) + ' ' + what;
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
    const auto part = [&](const Warps& w, Index of, const char* what) {
        return r.can(w) ? share_of(of, r.number(), what) : std::string("a part of the ") + what;
    };
    return "The " + text::counted(r.number(), "warp") +
           " of a thread block can divide a tile in two ways. Split K: a warp has " + part(r.keys, r.bc(), "keys") +
           " and all rows. Every warp reads Q; then maxima, sums and a partial O of each warp pass through shared "
           "memory "
           "and are added up behind a barrier. Split Q: a warp has " +
           part(r.rows, r.br(), "rows") + " and all keys. Every warp reads K and V, and nothing is exchanged.";
}

std::vector<std::vector<std::string>> table_of(const Rivals& r) {
    const auto row = [&](const std::string& name, auto&& of) {
        std::vector<std::string> cells = {name};
        for (const Warps& w : {r.keys, r.rows}) cells.push_back(r.can(w) ? of(w) : "-");
        return cells;
    };
    const auto bytes = [&](const char* name, Bytes WarpBytes::*part) {
        return row(name, [&](const Warps& w) {
            const bool kept = w.keeps_keys && part == &WarpBytes::kv;
            return kept ? "in registers" : exact_bytes(r.tile(w).*part);
        });
    };
    return {{"a tile of " + shape_of_tile(r.br(), r.bc()), "split K", "split Q"},
            bytes("Q, read", &WarpBytes::q),
            bytes("K and V, read", &WarpBytes::kv),
            bytes("maxima and sums, exchanged", &WarpBytes::statistics),
            bytes("partial O, exchanged", &WarpBytes::outputs),
            row("together", [&](const Warps& w) { return exact_bytes(r.tile(w).total()); }),
            row("bytes per score",
                [&](const Warps& w) {
                    return text::tenths(static_cast<double>(r.tile(w).total()) / static_cast<double>(r.br() * r.bc()));
                }),
            row("the whole run", [&](const Warps& w) { return text::bytes(of_run(w, r.e).total()); })};
}

/// Why a split is not possible.
std::string cannot(const Rivals& r, const Warps& w) {
    const bool by_rows = w.split == WarpSplit::rows;
    const char* what = by_rows ? "rows" : "keys";
    const Index least = least_share * r.number();
    return std::string(by_rows ? "Split Q" : "Split K") + " is impossible at this tile: mma.m16n8k16 takes " +
           std::to_string(least_share) + ' ' + what + " at a time, so " + text::counted(r.number(), "warp") + " need " +
           std::to_string(least) + ", and it has " + std::to_string(by_rows ? r.br() : r.bc()) + '.';
}

std::string winner(const Rivals& r) {
    const Bytes by_keys = r.tile(r.keys).total(), by_rows = r.tile(r.rows).total();
    if (by_keys == by_rows) return "Both move as many bytes at this tile; split K waits at a barrier besides.";
    const double times =
        static_cast<double>(std::max(by_keys, by_rows)) / static_cast<double>(std::min(by_keys, by_rows));
    if (by_keys > by_rows)
        return "Split Q moves fewer bytes at this tile: split K moves " + text::number(times) +
               " times as many, and waits at a barrier besides.";
    return "Split K moves fewer bytes at this tile: split Q moves " + text::number(times) +
           " times as many, though without a barrier.";
}

/// From which shape of the tile on the other split is better.
std::string turning_point(const Rivals& r, double even) {
    const std::string br = std::to_string(r.br()), bc = std::to_string(r.bc()),
                      least = std::to_string(least_share * r.number());
    const double even_br = static_cast<double>(r.bc()) / even;
    std::string words =
        "Which one moves fewer is a matter of the tile's shape: they are even at Bc = " + text::number(even) +
        " Br. Split K wins where a tile is wider, split Q where it is taller. ";
    if (r.can(r.rows))
        words += "At Br " + br + " they are even at Bc " + text::tenths(even * static_cast<double>(r.br())) + ". ";
    words += "At Bc " + bc + " they are even at Br " + text::tenths(even_br);
    if (even_br <= static_cast<double>(least_share * r.number()))
        return words + ", but split Q needs Br " + least + ", and wins from there on.";
    return words + (r.can(r.rows) ? "." : "; split Q is possible from Br " + least + " on.");
}

/// "FlashAttention-2's released kernel (tiles of 128 x 128, 4 warps) has split Q."
std::string released_kernel(const ReleasedWarps& k) {
    const std::string tiles =
        k.tiling.br > 0 ? "tiles of " + shape_of_tile(k.tiling.br, k.tiling.bc) + ", " : std::string();
    return k.kernel + " (" + tiles + text::counted(k.number, "warp") + ") has " + name_of_split(k.warps.split) + '.';
}

/// Where K_j and V_j are, in a kernel that keeps them on chip for many row blocks.
std::string kept_keys(const Rivals& r) {
    const std::string registers = text::counted(registers_of_keys(r.number(), r.problem(), r.bc()), "register");
    if (!r.keys.keeps_keys)
        return " It keeps K_j and V_j in registers while row blocks pass by. At this tile they would take " +
               registers + " of a thread, which has 255, so here they are read again for each tile.";
    return " It keeps K_j and V_j in registers while row blocks pass by (" + registers +
           " of a thread): they are read from shared memory once for each key block, not for each tile.";
}

std::vector<std::string> verdict_on(const Rivals& r) {
    std::vector<std::string> all = {released_kernel(r.released)};
    if (r.number() == 1) {
        all.push_back("One warp has the whole tile: there is nothing to divide, and nothing to exchange.");
        return all;
    }
    if (r.released.warps.split == WarpSplit::keys) all[0] += kept_keys(r);
    for (const Warps& w : {r.keys, r.rows})
        if (!r.can(w)) all.push_back(cannot(r, w));
    if (!r.can(r.rows) && r.problem().seq_q < least_share * r.number() && r.released.tiling.br > 0)
        all.push_back("A kernel has so few rows in a larger tile, in which some warps have none.");
    if (r.can(r.keys) && r.can(r.rows)) all.push_back(winner(r));
    if (const auto even = even_width(r.keys, r.problem()); even && r.can(r.keys))
        all.push_back(turning_point(r, *even));
    return all;
}

std::string what_it_is(const Problem& p) {
    return std::string(
               "All of this stays within an SM: it is neither SM traffic nor HBM. How Q, K and V get into shared "
               "memory "
               "is left out, for it is the same either way. The SRAM bytes of `run` know no warps: there a product "
               "reads "
               "each operand once. This is about kernels whose warps load operands by themselves, for mma.sync: "
               "FlashAttention-1 and -2, on an A100 or a later GPU. Not FlashAttention-3's for Hopper: the tensor "
               "cores "
               "read operands of wgmma from shared memory directly, once for a group of four warps.") +
           (p.dtype == Dtype::f32 ? " The released kernels take f16 and bf16; here an element has 4 B." : "");
}

WarpsText of_exchange(const Experiment& e, const ReleasedExchange& x) {
    const std::string bytes = exact_bytes(x.bytes), kernel = x.kernel + " (" + text::counted(x.own, "warp") + ") has ";
    std::string words;
    if (x.partial_sums && x.warps == 1)
        words = kernel + "split K. One warp has the whole tile: there is nothing to exchange.";
    else if (x.partial_sums)
        words = kernel +
                "split K: each warp has a part of the keys. dK_j and dV_j are sums over rows, so a warp has those of "
                "its own keys; dQ_i is a sum over keys, so each tile leaves " +
                std::to_string(x.warps) + " partial dQ of " + shape_of_tile(e.tiling.br, e.problem.dim) + " f32, " +
                bytes + ", in shared memory, to be read again and added up behind a barrier.";
    else
        words = kernel +
                "no split K: warps divide what a product makes, never what it sums over, so no sums are exchanged. But "
                "each warp needs P and dS of others for the products that follow, also transposed: both pass through "
                "shared "
                "memory in the storage type, 2 of " +
                shape_of_tile(e.tiling.br, e.tiling.bc) + ", " + bytes + " a tile.";
    return {"Warps: what they exchange through shared memory (computed by closed forms, not counted)",
            {words, "All of this stays within an SM: it is neither SM traffic nor HBM."},
            {},
            {}};
}

}  // namespace

WarpsText warps_text(const Experiment& e, Index number) {
    if (const auto exchange = released_exchange(e, number)) return of_exchange(e, *exchange);
    const auto released = released_warps(e, number);
    if (!released) return {};
    const Rivals r{e, *released};
    WarpsText t{"Warps: bytes between shared memory and registers (computed by closed forms, not counted)", {}, {}, {}};
    if (r.number() > 1) t.before = {two_ways(r)};
    if (r.number() > 1 && (r.can(r.keys) || r.can(r.rows))) t.table = table_of(r);
    t.after = verdict_on(r);
    if (!t.table.empty()) t.after.push_back(what_it_is(r.problem()));
    return t;
}

}  // namespace tilescope::show
