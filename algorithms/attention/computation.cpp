// Attention, straight from the definition.
#include "algorithms/contract/computation.hpp"

#include <cmath>
#include <limits>

#include "algorithms/contract/matrix.hpp"

namespace tilescope {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index key_chunk = 1024;  // keys converted to double at a time

/// scale Q K^T, with -inf where a query does not see a key.
Matrix logits(const Problem& p, const Inputs& in, Index slice, Span rows) {
    const Matrix q = rows_of(*in.at("Q"), slice, rows);
    const double scale = p.scale ? *p.scale : 1.0 / std::sqrt(static_cast<double>(p.dim));
    Matrix s(rows.size, p.seq_k);
    const Tiles chunks(p.seq_k, key_chunk);
    for (Index c = 0; c < chunks.count(); ++c) {
        const Span j = chunks[c];
        s.middleCols(j.begin, j.size).noalias() =
            scale * q * rows_of(*in.at("K"), p.kv_slice({slice, 1}), j).transpose();
    }
    for (Index r = 0; p.mask.hides() && r < rows.size; ++r)
        for (Index c = 0; c < p.seq_k; ++c)
            if (!p.sees(rows.begin + r, c)) s(r, c) = -infinity;
    return s;
}

ReferenceRows reference(const Problem& p, const Inputs& in, Index slice, Span rows) {
    Matrix s = logits(p, in, slice, rows);
    const RowSums sums = softmax_rows(s);
    Matrix o = Matrix::Zero(rows.size, p.dim_v);
    const Tiles chunks(p.seq_k, key_chunk);
    for (Index c = 0; c < chunks.count(); ++c) {
        const Span j = chunks[c];
        o.noalias() += s.middleCols(j.begin, j.size) * rows_of(*in.at("V"), p.kv_slice({slice, 1}), j);
    }
    std::vector<double> lse;
    for (std::size_t r = 0; r < sums.m.size(); ++r) lse.push_back(sums.m[r] + std::log(sums.l[r]));
    return {{"O", values_of(o)}, {"LSE", std::move(lse)}, {"m", sums.m}, {"l", sums.l}};
}

std::vector<TensorDecl> tensors(const Problem& p) {
    return {declare(p, "Q", Role::input, Meaning::query, Sliced::by_head, p.seq_q, p.dim, p.dtype),
            declare(p, "K", Role::input, Meaning::key, Sliced::by_kv_head, p.seq_k, p.dim, p.dtype),
            declare(p, "V", Role::input, Meaning::value, Sliced::by_kv_head, p.seq_k, p.dim_v, p.dtype),
            declare(p, "O", Role::output, Meaning::output, Sliced::by_head, p.seq_q, p.dim_v, p.dtype)};
}

}  // namespace

const Computation computation::attention{
    .name = "attention",
    .title = "Attention",
    .slice = "head",
    .output = "O",
    .accumulates = true,
    .features = {Feature::head_dims, Feature::grouped_heads, Feature::scale, Feature::mask, Feature::naive_softmax},
    .file_flag = "--q",
    .tensors = tensors,
    .reference = reference};

}  // namespace tilescope
