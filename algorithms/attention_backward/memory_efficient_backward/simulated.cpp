#include <algorithm>

#include "algorithms/attention_backward/memory_efficient_backward/algorithm.hpp"
#include "algorithms/contract/scores.hpp"

namespace tilescope::memory_efficient_backward {
namespace {

/// Consecutive row blocks for which a key block is, or is not, the first one (`begin`) and the last one (`end`).
struct Visitors {
    Tiles rows;
    bool begin, end;
};

/// The first and the last key block of each row block, where parts run one after the other.
class Visits {
  public:
    Visits(const Problem& p, const Tiling& tile, Tiles rows, Tiles keys)
        : p_(p), rows_(rows), parts_(parts_of(p, tile)), bc_(tile.bc) {
        const Index different = p.mask.hides() ? rows.count() : 1;
        for (Index i = 0; i < different; ++i) {
            const Ends e = ends_of(p.visible_keys(keys, rows[i]));
            ends_.push_back(e);
            if (parts_ == 1 && e.first >= 0) by_key_block_.emplace_back(e.first, i);
            if (e.last >= 0) by_key_block_.emplace_back(e.last, i);
        }
        std::sort(by_key_block_.begin(), by_key_block_.end());
        by_key_block_.erase(std::unique(by_key_block_.begin(), by_key_block_.end()), by_key_block_.end());
    }

    Index parts() const { return parts_; }
    /// The row blocks that see key block j, grouped by whether j is the first or the last key block of them.
    std::vector<Visitors> to(Span j) const {
        const Tiles seeing = p_.seeing_rows(rows_, j);
        if (!p_.mask.hides()) return {{seeing, begins(0, j), ends(0, j)}};
        std::vector<Visitors> all;
        const auto add = [&](Index from, Index to, bool begin, bool end) {  // numbers of row blocks
            const Tiles rows = seeing.from(from).upto(to);
            if (rows.count() > 0) all.push_back({rows, begin, end});
        };
        Index done = 0;
        for (const Index i : at_an_end(j)) {
            add(done, i, false, false);
            const bool begin = begins(i, j), end = ends(i, j);
            if (!all.empty() && done == i && all.back().begin == begin && all.back().end == end) {
                const Index first = all.back().rows[0].begin / rows_.tile_size();
                all.pop_back();
                add(first, i + 1, begin, end);
            } else {
                add(i, i + 1, begin, end);
            }
            done = i + 1;
        }
        add(done, rows_.count(), false, false);
        return all;
    }

  private:
    struct Ends {
        Index first = -1, last = -1;  // numbers of key blocks; -1: none
    };

    Ends ends_of(const Tiles& visible) const {
        if (visible.count() == 0) return {};
        const auto position = [&](Index k) { return visible[k].begin / visible.tile_size(); };
        const Index n = visible.count(), lowest = position(0), highest = position(n - 1);
        if (highest - lowest == n - 1) {
            // The highest one in the last part. If none is in the last part, the highest of all.
            const Index of_last_part = highest - (highest + 1) % parts_;
            return {lowest, of_last_part >= lowest ? of_last_part : highest};
        }
        Index last = 0;
        for (Index k = 1; k < n; ++k)
            if (position(k) % parts_ >= position(last) % parts_) last = k;
        return {lowest, position(last)};
    }
    Index number(Span j) const { return j.begin / bc_; }
    /// False with several parts, because dQ~ is then filled with zeros before.
    bool begins(Index i, Span j) const { return parts_ == 1 && ends_[static_cast<std::size_t>(i)].first == number(j); }
    bool ends(Index i, Span j) const { return ends_[static_cast<std::size_t>(i)].last == number(j); }
    /// The row blocks of which key block j is the first or last one, in ascending order.
    std::vector<Index> at_an_end(Span j) const {
        const std::pair<Index, Index> from{number(j), 0}, to{number(j) + 1, 0};
        std::vector<Index> all;
        const auto end = std::lower_bound(by_key_block_.begin(), by_key_block_.end(), to);
        for (auto k = std::lower_bound(by_key_block_.begin(), by_key_block_.end(), from); k != end; ++k)
            all.push_back(k->second);
        return all;
    }

    const Problem& p_;
    Tiles rows_;
    Index parts_, bc_;
    std::vector<Ends> ends_;                             // of each row block; one for all without a mask
    std::vector<std::pair<Index, Index>> by_key_block_;  // key block, row block that it is an end of; sorted
};

/// A key block of a head of K and V, with dK_j and dV_j in registers.
struct KeyBlock {
    const Tensors& t;
    const Problem& p;
    Hbm sums, K, V;  ///< sums: dQ~
    Span j;
    Tile dk, dv;
};

/// Lines 5 and 6.
Tile probabilities(Block& b, const KeyBlock& of, Span head, Span i) {
    b.at(5);
    Tile s = b.alloc_registers("S", i.size, of.j.size);
    {
        const Tile q = b.load(of.t["Q"].of(head), i);
        const Tile k = b.load(of.K, of.j);
        b.matmul(s, q, k, Trans::b, of.p.logit_scale());
    }
    finish_scores(b, s, of.p, of.t, head, i, of.j);
    b.at(6);
    exp_minus(b, s, b.load(of.t["LSE"].of(head), i, Space::registers));
    return s;
}

/// Copies to SRAM an operand that a product reads transposed, or that other lanes read.
Tile to_sram(Block& b, const KeyBlock& of, const char* name, const Tile& s) {
    Tile w = b.alloc(name, s.rows(), s.cols(), Space::sram, of.p.dtype);
    copy(b, w, s);
    return w;
}

void add_values(Block& b, KeyBlock& of, const Tile& s, Span head, Span i) {
    b.at(7);
    Tile w = to_sram(b, of, "P", s);
    drop_scores(b, w, of.p, of.t, head, i, of.j);
    const Tile g = b.load(of.t["dO"].of(head), i);
    b.matmul(of.dv, w, g, Trans::a);
}

/// Lines 8 and 9.
Tile score_gradients(Block& b, const KeyBlock& of, const Tile& s, Span head, Span i) {
    b.at(8);
    Tile ds = b.alloc_registers("dS", i.size, of.j.size);
    {
        const Tile g = b.load(of.t["dO"].of(head), i);
        const Tile v = b.load(of.V, of.j);
        b.matmul(ds, g, v, Trans::b);
    }
    drop_scores(b, ds, of.p, of.t, head, i, of.j);
    b.at(9);
    subtract_rows(b, ds, b.load(of.t["D"].of(head), i, Space::registers));
    multiply(b, ds, s);
    return to_sram(b, of, "dS", ds);
}

void add_queries(Block& b, const KeyBlock& of, const Tile& ds, const Visitors& visit, Span head, Span i) {
    b.at(11);
    Tile dq = visit.begin ? b.alloc_registers("dQ", i.size, of.p.dim) : b.load(of.sums.of(head), i, Space::registers);
    {
        const Tile k = b.load(of.K, of.j);
        b.matmul(dq, ds, k, Trans::none, of.p.logit_scale());
    }
    b.at(12);
    b.store(dq, visit.end ? of.t["dQ"].of(head) : of.sums.of(head), i);
}

void step(Block& b, KeyBlock& of, const Visitors& visit, Span head, Span i) {
    Tile s = probabilities(b, of, head, i);
    add_values(b, of, s, head, i);
    const Tile ds = score_gradients(b, of, s, head, i);
    if (of.p.bias) {
        b.at(10);
        b.store(ds, of.t[stored_gradients(of.p)].of(head), i, of.j);
    }
    add_queries(b, of, ds, visit, head, i);
    b.at(13);
    const Tile q = b.load(of.t["Q"].of(head), i);
    b.matmul(of.dk, ds, q, Trans::a, of.p.logit_scale());
}

/// Lines 2 and 3.
void begin(Block& b, const Tensors& t, const Problem& p, Tiles rows, Tiles keys, Span kv, bool writes_zeros) {
    b.uniform(heads_of(p, kv),
              [&](Span head) { b.uniform(rows, [&](Span i) { backward::row_product(b, t, head, i, 2, [] {}); }); });
    if (!writes_zeros || !p.mask.hides()) return;
    const Tiles blind = rows.only([&](Span i) { return p.visible_keys(keys, i).count() == 0; });
    b.uniform(heads_of(p, kv), [&](Span head) {
        b.uniform(blind, [&](Span i) {
            b.at(3);
            b.store(b.alloc_registers("dQ", i.size, p.dim), t["dQ"].of(head), i);
        });
    });
}

/// Lines 15 and 16 for a bias. There is a thread block per slice and row block, or, where the bias has one row for all
/// queries, per slice and key block.
void sum_what_shares(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys, std::size_t bias) {
    const BiasTerm& term = p.bias.terms[bias];
    const Hbm dS = t[stored_gradients(p)], out = t[bias_gradients[bias]];
    const Axis slices = uniform(slices_of(term, p), "slice");
    const auto sharing = [&](Span slice) {
        return Tiles(p.batch_heads(), 1, "head").only([&](Span head) {
            return p.bias.slice_of(term, head.begin, p.heads) == slice.begin;
        });
    };
    if (term.by_query) {
        gpu.launch("bias_gradient", {slices, p.row_axis(rows, keys)}, [&](Block& b, Span slice, Span i) {
            b.uniform(p.visible_keys(keys, i), [&](Span j) {
                b.at(15);
                Tile sum = b.alloc_registers("dbias", i.size, j.size);
                b.uniform(sharing(slice), [&](Span head) { add(b, sum, b.load(dS.of(head), i, j, Space::registers)); });
                b.at(16);
                b.store(sum, out.slice(slice.begin), i, j);
            });
        });
        return;
    }
    gpu.launch("bias_gradient", {slices, key_axis(p, keys, rows)}, [&](Block& b, Span slice, Span j) {
        b.at(15);
        Tile sum = b.alloc_registers("dbias", 1, j.size);
        b.uniform(sharing(slice), [&](Span head) {
            b.uniform(p.seeing_rows(rows, j),
                      [&](Span i) { update_column_sum(b, sum, b.load(dS.of(head), i, j, Space::registers)); });
        });
        b.at(16);
        b.store(sum, out.slice(slice.begin), {0, 1}, j);
    });
}

}  // namespace

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    const Visits visits(p, tile, rows, keys);
    const Index S = visits.parts();
    gpu.launch("memory_efficient_backward", {kv_axis(p), ordered(each(Tiles(S, 1, "s")))},
               [&](Block& b, Span kv, Span s) {
                   begin(b, t, p, rows, keys, kv, s.begin == 0);
                   const auto key_block = [&](Span j) {
                       const auto of_kv = [&](const char* name) { return t[name].slice(kv.begin); };
                       b.at(4);
                       KeyBlock of = {t,
                                      p,
                                      t[accumulator(p, tile)],
                                      of_kv("K"),
                                      of_kv("V"),
                                      j,
                                      b.alloc_registers("dK", j.size, p.dim),
                                      b.alloc_registers("dV", j.size, p.dim_v)};
                       b.uniform(heads_of(p, kv), [&](Span head) {
                           for (const Visitors& visit : visits.to(j))
                               b.uniform(visit.rows, [&](Span i) { step(b, of, visit, head, i); });
                       });
                       b.at(14);
                       b.store(of.dk, of_kv("dK"), j);
                       b.store(of.dv, of_kv("dV"), j);
                   };
                   backward::each_dealt(b, p, keys, s.begin, S, key_block);
               });
    for (std::size_t k = 0; k < p.bias.terms.size(); ++k)
        if (bias_gradients[k] != std::string_view(stored_gradients(p))) sum_what_shares(gpu, t, p, rows, keys, k);
}

}  // namespace tilescope::memory_efficient_backward
