// The gradients of attention, straight from the chain rule: FlashAttention (arXiv 2205.14135), Appendix B.2.
#include "algorithms/contract/computation.hpp"

#include <cmath>

#include "algorithms/attention/logits.hpp"
#include "algorithms/contract/kv_heads.hpp"

namespace tilescope {
namespace {

/// Of some rows of a head and some of its keys: the softmax P, from the LSE that the forward pass saved, and dS, the
/// gradient of the logits.
struct ScoreGradients {
    Matrix dO, P, dS;
};

ScoreGradients score_gradients(const Problem& p, const Inputs& in, Index slice, Span rows, Span keys) {
    const Index kv = p.kv_slice({slice, 1});
    const Matrix O = rows_of(*in.at("O"), slice, rows), LSE = rows_of(*in.at("LSE"), slice, rows);
    ScoreGradients g{rows_of(*in.at("dO"), slice, rows), logits(p, in, slice, rows, keys), {}};
    g.dS.noalias() = g.dO * rows_of(*in.at("V"), kv, keys).transpose();  // dP, so far
    for (Index r = 0; r < rows.size; ++r) {
        const double D = g.dO.row(r).dot(O.row(r));
        for (Index c = 0; c < keys.size; ++c) {
            g.P(r, c) = std::isinf(g.P(r, c)) ? 0 : std::exp(g.P(r, c) - LSE(r, 0));
            g.dS(r, c) = g.P(r, c) * (g.dS(r, c) - D);
        }
    }
    return g;
}

ReferenceRows gradients_of_rows(const Problem& p, const Inputs& in, Index slice, Span rows) {
    Matrix dQ = Matrix::Zero(rows.size, p.dim);
    const Tiles chunks(p.seq_k, key_chunk);
    for (Index c = 0; c < chunks.count(); ++c)
        dQ.noalias() += scale_of_logits(p) * score_gradients(p, in, slice, rows, chunks[c]).dS *
                        rows_of(*in.at("K"), p.kv_slice({slice, 1}), chunks[c]);
    return {{"dQ", values_of(dQ)}};
}

ReferenceRows gradients_of_keys(const Problem& p, const Inputs& in, Index slice, Span keys) {
    Matrix dK = Matrix::Zero(keys.size, p.dim), dV = Matrix::Zero(keys.size, p.dim_v);
    const Tiles heads = heads_of(p, {slice, 1}), chunks(p.seq_q, key_chunk);
    for (Index h = 0; h < heads.count(); ++h)
        for (Index c = 0; c < chunks.count(); ++c) {
            const Index head = heads[h].begin;
            const ScoreGradients g = score_gradients(p, in, head, chunks[c], keys);
            dV.noalias() += g.P.transpose() * g.dO;
            dK.noalias() += scale_of_logits(p) * g.dS.transpose() * rows_of(*in.at("Q"), head, chunks[c]);
        }
    return {{"dK", values_of(dK)}, {"dV", values_of(dV)}};
}

ReferenceRows saved_rows(const Problem& p, const Inputs& in, Index slice, Span rows) {
    ReferenceRows saved = computation::attention.reference(p, in, slice, rows);
    Matrix P = logits(p, in, slice, rows, {0, p.seq_k});
    softmax_rows(P);
    saved.emplace("P", values_of(P));
    return saved;
}

std::vector<TensorDecl> tensors_of_backward(const Problem& p) {
    const auto by_head = [&](const char* name, Role role, Meaning meaning, Index cols, Dtype dtype) {
        return declare(p, name, role, meaning, Sliced::by_head, p.seq_q, cols, dtype);
    };
    const auto by_kv_head = [&](const char* name, Role role, Meaning meaning, Index cols) {
        return declare(p, name, role, meaning, Sliced::by_kv_head, p.seq_k, cols, p.dtype);
    };
    std::vector<TensorDecl> all = {by_head("Q", Role::input, Meaning::query, p.dim, p.dtype),
                                   by_kv_head("K", Role::input, Meaning::key, p.dim),
                                   by_kv_head("V", Role::input, Meaning::value, p.dim_v),
                                   by_head("O", Role::input, Meaning::output, p.dim_v, p.dtype),
                                   by_head("LSE", Role::input, Meaning::statistic, 1, Dtype::f32),
                                   by_head("dO", Role::input, Meaning::gradient, p.dim_v, p.dtype),
                                   by_head("dQ", Role::output, Meaning::gradient, p.dim, p.dtype),
                                   by_kv_head("dK", Role::output, Meaning::gradient, p.dim),
                                   by_kv_head("dV", Role::output, Meaning::gradient, p.dim_v)};
    for (TensorDecl& t : all) t.saved = t.meaning == Meaning::output || t.meaning == Meaning::statistic;
    return all;
}

}  // namespace

const Computation computation::attention_backward{.name = "attention backward",
                                                  .title = "Attention backward",
                                                  .slice = "head",
                                                  .output = "dQ",
                                                  .accumulates = false,
                                                  .features = attention_features,
                                                  .file_flag = "--q",
                                                  .tensors = tensors_of_backward,
                                                  .reference = gradients_of_rows,
                                                  .reference_of_keys = gradients_of_keys,
                                                  .saved = saved_rows};

}  // namespace tilescope
