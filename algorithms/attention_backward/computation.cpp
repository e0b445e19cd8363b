// The gradients of attention, straight from the chain rule: FlashAttention (arXiv 2205.14135), Appendix B.2.
#include "algorithms/contract/computation.hpp"

#include <cmath>

#include "algorithms/attention/logits.hpp"
#include "algorithms/contract/kv_heads.hpp"

namespace tilescope {
namespace {

/// For some rows of a head and some of its keys: dO, the upstream gradient; the weights P = exp(S - LSE) after dropout,
/// with the LSE of the forward pass; the gradients of the logits S, which enter the softmax, and of the products scale
/// Q K^T, from which soft-cap, biases and mask make the logits.
struct ScoreGradients {
    Matrix dO, weights, dlogits, dproducts;
};

/// The gradient of the products. A logit is cap tanh(product / cap) plus terms that do not depend on the product.
Matrix through_soft_cap(const Problem& p, const Matrix& dlogits, const Matrix& products) {
    return dlogits.cwiseProduct((1 - (products.array() / *p.soft_cap).tanh().square()).matrix());
}

ScoreGradients score_gradients(const Problem& p, const Inputs& in, Index slice, Span rows, Span keys) {
    const Index kv = p.kv_slice({slice, 1});
    const Matrix O = rows_of(*in.at("O"), slice, rows), LSE = rows_of(*in.at("LSE"), slice, rows);
    ScoreGradients g{rows_of(*in.at("dO"), slice, rows), logits(p, in, slice, rows, keys), {}, {}};
    g.dlogits.noalias() = g.dO * rows_of(*in.at("V"), kv, keys).transpose();  // dP, before dropout
    if (p.dropout) drop(g.dlogits, p, slice, rows, keys);
    for (Index r = 0; r < rows.size; ++r) {
        const double D = g.dO.row(r).dot(O.row(r));
        for (Index c = 0; c < keys.size; ++c) {
            double& P = g.weights(r, c);
            P = std::isinf(P) ? 0 : std::exp(P - LSE(r, 0));
            const bool hidden = P == 0 && !p.sees(rows.begin + r, keys.begin + c);
            g.dlogits(r, c) = hidden ? 0 : P * (g.dlogits(r, c) - D);
        }
    }
    if (p.dropout) drop(g.weights, p, slice, rows, keys);
    g.dproducts = p.soft_cap ? through_soft_cap(p, g.dlogits, products(p, in, slice, rows, keys)) : g.dlogits;
    return g;
}

ReferenceRows gradients_of_rows(const Problem& p, const Inputs& in, Index slice, Span rows) {
    Matrix dQ = Matrix::Zero(rows.size, p.dim);
    const Tiles chunks(p.seq_k, key_chunk);
    for (Index c = 0; c < chunks.count(); ++c) {
        const Span keys = chunks[c];
        add_seen(dQ, scale_of_logits(p) * score_gradients(p, in, slice, rows, keys).dproducts,
                 rows_of(*in.at("K"), p.kv_slice({slice, 1}), keys),
                 [&](Index r, Index k) { return p.sees(rows.begin + r, keys.begin + k); });
    }
    return {{"dQ", values_of(dQ)}};
}

ReferenceRows gradients_of_keys(const Problem& p, const Inputs& in, Index slice, Span keys) {
    Matrix dK = Matrix::Zero(keys.size, p.dim), dV = Matrix::Zero(keys.size, p.dim_v);
    const Tiles heads = heads_of(p, {slice, 1}), chunks(p.seq_q, key_chunk);
    for (Index h = 0; h < heads.count(); ++h)
        for (Index c = 0; c < chunks.count(); ++c) {
            const Index head = heads[h].begin;
            const Span rows = chunks[c];
            const ScoreGradients g = score_gradients(p, in, head, rows, keys);
            const auto seen = [&](Index k, Index r) { return p.sees(rows.begin + r, keys.begin + k); };
            add_seen(dV, g.weights.transpose(), g.dO, seen);
            add_seen(dK, scale_of_logits(p) * g.dproducts.transpose(), rows_of(*in.at("Q"), head, rows), seen);
        }
    return {{"dK", values_of(dK)}, {"dV", values_of(dV)}};
}

/// The sum over all heads that read the slice of the bias; also over all rows where the bias has one row for all.
ReferenceRows gradients_of_bias(const Problem& p, const Inputs& in, std::size_t bias, Index slice, Span rows) {
    const BiasTerm& term = p.bias.terms[bias];
    const Tiles key_chunks(p.seq_k, key_chunk), row_chunks(p.seq_q, key_chunk);
    Matrix sum = Matrix::Zero(rows.size, p.seq_k);
    for (Index head = 0; head < p.batch_heads(); ++head) {
        if (p.bias.slice_of(term, head, p.heads) != slice) continue;
        for (Index c = 0; c < key_chunks.count(); ++c) {
            const Span keys = key_chunks[c];
            auto of_chunk = sum.middleCols(keys.begin, keys.size);
            if (term.by_query) of_chunk += score_gradients(p, in, head, rows, keys).dlogits;
            for (Index r = 0; r < row_chunks.count() && !term.by_query; ++r)
                of_chunk += score_gradients(p, in, head, row_chunks[r], keys).dlogits.colwise().sum();
        }
    }
    return {{bias_gradients[bias], values_of(sum)}};
}

ReferenceRows saved_rows(const Problem& p, const Inputs& in, Index slice, Span rows) {
    ReferenceRows saved = computation::attention.reference(p, in, slice, rows);
    Matrix P = logits(p, in, slice, rows, {0, p.seq_k});
    softmax_rows(P);
    saved.emplace("P", values_of(P));
    if (!p.dropout) return saved;
    Matrix kept = Matrix::Constant(rows.size, p.seq_k, 1 - p.dropout.p);
    drop(kept, p, slice, rows, {0, p.seq_k});
    saved.emplace(kept_tensor, values_of(kept));
    return saved;
}

std::vector<TensorDecl> tensors_of_backward(const Problem& p) {
    const auto by_head = [&](const char* name, Role role, Meaning meaning, Index cols, Dtype dtype) {
        return declare(p, name, role, meaning, Sliced::by_head, p.seq_q, cols, dtype);
    };
    const auto by_kv_head = [&](const char* name, Meaning meaning, Index cols) {
        return declare(p, name, Role::input, meaning, Sliced::by_kv_head, p.seq_k, cols, p.dtype);
    };
    const auto of_rows = [&](const char* name, Role role, Meaning of, Index cols) {
        return declare_gradient(p, name, role, of, Sliced::by_head, p.seq_q, cols, p.dtype);
    };
    const auto of_keys = [&](const char* name, Meaning of, Index cols) {
        return declare_gradient(p, name, Role::output, of, Sliced::by_kv_head, p.seq_k, cols, p.dtype);
    };
    std::vector<TensorDecl> all = {by_head("Q", Role::input, Meaning::query, p.dim, p.dtype),
                                   by_kv_head("K", Meaning::key, p.dim),
                                   by_kv_head("V", Meaning::value, p.dim_v),
                                   by_head("O", Role::input, Meaning::output, p.dim_v, p.dtype),
                                   by_head("LSE", Role::input, Meaning::statistic, 1, Dtype::f32),
                                   of_rows("dO", Role::input, Meaning::output, p.dim_v),
                                   of_rows("dQ", Role::output, Meaning::query, p.dim),
                                   of_keys("dK", Meaning::key, p.dim),
                                   of_keys("dV", Meaning::value, p.dim_v)};
    for (TensorDecl& t : all) t.saved = t.meaning == Meaning::output || t.meaning == Meaning::statistic;
    std::size_t biases = 0;
    for (TensorDecl& t : computation::attention.tensors(p)) {
        if (t.name == std::string_view(kept_tensor)) {
            t.role = Role::input, t.saved = true;
            all.push_back(t);
        }
        if (t.meaning != Meaning::bias) continue;
        all.push_back(t);
        t.name = bias_gradients[biases++], t.role = Role::output;
        t.meaning = Meaning::gradient, t.gradient_of = Meaning::bias;
        all.push_back(t);
    }
    return all;
}

}  // namespace

const Computation computation::attention_backward{.name = "attention backward",
                                                  .title = "computation.attention_backward",
                                                  .slice = "head",
                                                  .output = "dQ",
                                                  .accumulates = false,
                                                  .features = score_features.with(Feature::dropout),
                                                  .needs = {.over_dim = 2, .over_dim_v = 2},  // dQ, dK; dP, dV
                                                  .file_flag = "--q",
                                                  .tensors = tensors_of_backward,
                                                  .reference = gradients_of_rows,
                                                  .reference_of_keys = gradients_of_keys,
                                                  .reference_of_bias = gradients_of_bias,
                                                  .saved = saved_rows};

}  // namespace tilescope
