// The closed form of `standard`: a sum over its list of passes.
#include "algorithms/attention/standard/algorithm.hpp"
#include "algorithms/contract/tile_sums.hpp"
#include "core/text/message.hpp"

namespace tilescope::standard {
namespace {

/// Counts per query head (head_), and per head of K and V (kv_): K and V are converted or scaled once for the query
/// heads that share them.
class Sum {
  public:
    Sum(const Problem& p, const Tiling& tile, const GpuSpec& gpu)
        : p_(p),
          all_(tile_sums(p, tile, false)),
          Tr_(ceil_div(p.seq_q, tile.br)),
          Tc_(ceil_div(p.seq_k, tile.bc)),
          resident_(resident_rows(p, gpu.registers_per_sm) > 0) {}

    Prediction of_list(const PassList& list) {
        bool cap = false, bias = false;
        for (const PassLaunch& l : list) {
            cap = cap || l.has(Pass::cap), bias = bias || l.has(Pass::bias);
            launch(l);
        }
        // A soft-cap or bias that the list does not name is part of another launch.
        if (!cap) capped();
        if (!bias) biased();
        return head_.times(p_.batch_heads()) + kv_.times(p_.kv_slices());
    }

  private:
    void capped() { head_.exps += p_.soft_cap ? N_ : 0; }
    void biased() {
        Problem only = p_;
        only.soft_cap.reset();
        head_ = head_ + of_finishing(only, all_);
    }
    Index bytes(const PassLaunch& l) const { return size_of(l.type.value_or(p_.output_type())); }
    bool does(Pass pass) const {
        if (pass == Pass::cap) return p_.soft_cap.has_value();
        if (pass == Pass::bias) return p_.bias || p_.alibi > 0;
        return pass != Pass::mask || p_.mask.hides();
    }

    void launch(PassLaunch l) {
        std::erase_if(l.passes, [&](Pass pass) { return !does(pass); });
        if (l.passes.empty()) return;
        const Pass first = l.passes.front();
        const Index to = bytes(l);
        if (first == Pass::product && matrix_ == 0) return product(l, to);
        if (first == Pass::product) return last(to);
        if (matrix_ == 0) return ahead(first, to);
        if (first == Pass::softmax) return softmax(to);
        if (done_) return result(to);
        elements(l, to);
    }

    void ahead(Pass pass, Index to) {
        if (pass == Pass::convert && to == q_) return;
        const bool scale = pass == Pass::scale;
        head_ = head_ + Prediction{Nq_ * d_ * q_, Nq_ * d_ * to, 0, 0, scale ? Nq_ * d_ : 0};
        kv_ = kv_ + Prediction{Nk_ * d_ * k_, Nk_ * d_ * to, 0, 0, scale ? Nk_ * d_ : 0};
        if (!scale) kv_ = kv_ + Prediction{Nk_ * dv_ * v_, Nk_ * dv_ * to};
        if (!scale) v_ = to;
        q_ = k_ = to;
    }

    void product(const PassLaunch& l, Index to) {
        head_ = head_ + Prediction{Tc_ * Nq_ * d_ * q_ + Tr_ * Nk_ * d_ * k_, N_ * to, 2 * N_ * d_};
        matrix_ = logits_ = to;
        for (const Pass pass : l.passes) on_elements(pass);
    }

    void last(Index to) {
        head_ = head_ + Prediction{Tr_ * Nk_ * dv_ * v_ + N_ * matrix_, Nq_ * dv_ * to, 2 * N_ * dv_};
        matrix_ = to, done_ = true;
    }

    void result(Index to) {
        if (to != matrix_) head_ = head_ + Prediction{Nq_ * dv_ * matrix_, Nq_ * dv_ * to};
    }

    void softmax(Index to) {
        const bool safe = p_.softmax == Softmax::safe;
        const Index passes = resident_ ? 1 : safe ? 3 : 2, exps = resident_ ? N_ : 2 * N_;
        // max, subtract, add, divide: once per element of a resident row. A streamed row subtracts twice.
        const Index other = safe ? (resident_ ? 4 : 5) * N_ - 2 * Nq_ : 2 * N_ - Nq_;
        head_ = head_ + Prediction{N_ * passes * matrix_, N_ * to, 0, exps, other};
        matrix_ = to;
    }

    /// FLOPs of a pass over all elements.
    void on_elements(Pass pass) {
        if (pass == Pass::scale) head_.other_flops += N_;
        if (pass == Pass::cap) capped();
        if (pass == Pass::bias) biased();
        if (pass == Pass::exp) head_.exps += N_, head_.other_flops += maximum_ ? N_ : 0;
        if (pass == Pass::divide || pass == Pass::seen || pass == Pass::clear) head_.other_flops += N_;
        if (pass == Pass::max || pass == Pass::sum || pass == Pass::any) head_.other_flops += N_ - Nq_;
    }

    void elements(const PassLaunch& l, Index to) {
        const Pass first = l.passes.front(), last = l.passes.back();
        if ((first == Pass::convert || first == Pass::copy) && to == matrix_) return;
        const bool by_rows = last == Pass::max || last == Pass::sum || last == Pass::any;
        const bool writes = !by_rows || l.passes.size() > 1;
        const Index from = first == Pass::seen ? logits_ : first == Pass::any ? 1 : matrix_;
        const Index out = first == Pass::seen ? 1 : to, number = first == Pass::any || first == Pass::clear ? 1 : 4;
        const bool numbers = (first == Pass::exp && maximum_) || first == Pass::divide || first == Pass::clear;
        for (const Pass pass : l.passes) on_elements(pass);
        head_.hbm_read += N_ * from + (numbers ? (by_rows ? 1 : Tc_) * Nq_ * number : 0);
        head_.hbm_write += (writes ? N_ * out : 0) + (by_rows ? Nq_ * number : 0);
        maximum_ = maximum_ || last == Pass::max;
        if (!writes || first == Pass::seen || first == Pass::copy) return;
        matrix_ = to;
        if (first <= Pass::mask || (first == Pass::convert && !exponentials_)) logits_ = to;
        exponentials_ = exponentials_ || first == Pass::exp;
    }

    const Problem& p_;
    const TileSums all_;
    const Index Tr_, Tc_;
    const bool resident_;
    const Index Nq_ = p_.seq_q, Nk_ = p_.seq_k, d_ = p_.dim, dv_ = p_.dim_v, N_ = Nq_ * Nk_;
    Index q_ = size_of(p_.query_type()), k_ = size_of(p_.key_type()), v_ = k_;  // bytes of an element of Q, of K, of V
    Index matrix_ = 0, logits_ = 0;  // bytes of an element of the current matrix; of the last logits
    bool maximum_ = false, exponentials_ = false, done_ = false;
    Prediction head_, kv_;
};

}  // namespace

Prediction predict(const Problem& p, const Tiling& tile, const GpuSpec& gpu) {
    const PassList own = {{{Pass::product}, p.score_type()}, {{Pass::softmax}, p.weight_type()}, {{Pass::product}}};
    const TileSums all = tile_sums(p, tile, false);
    return Sum(p, tile, gpu).of_list(p.passes.empty() ? own : p.passes) +
           (of_dropping(p, all) + of_score_scales(p, tile, {all.row_blocks * all.key_blocks, ScaleLoop::by_tiles}) +
            of_value_scales(p, tile, {all.row_blocks, ScaleLoop::by_tiles}))
               .times(p.batch_heads());
}

std::optional<Idealised> idealised(const Problem& p) {
    if (p.bias || p.dropout.stored || !p.passes.empty()) return std::nullopt;  // the paper has none of these
    const Index Nq = p.seq_q, Nk = p.seq_k, d = p.dim, dv = p.dim_v, N = Nq * Nk;
    const auto [q, kv, o] = element_bytes(p);
    const Bytes scores = N * (size_of(p.score_type()) + size_of(p.weight_type()));
    const Prediction count = {Nq * d * q + (Nk * d + Nk * dv) * kv + scores, Nq * dv * o + scores, 2 * N * (d + dv), N,
                              4 * N - 2 * Nq};
    return Idealised{"Algorithm 0 of the FlashAttention paper", count.times(p.batch_heads()),
                     text::message("standard.idealised")};
}

}  // namespace tilescope::standard
