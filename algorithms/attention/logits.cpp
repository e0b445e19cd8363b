#include "algorithms/attention/logits.hpp"

#include <cmath>
#include <limits>

#include "algorithms/contract/exact.hpp"
#include "algorithms/contract/hidden_rows.hpp"
#include "core/machine/kept.hpp"

namespace tilescope {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The value that bias `t` adds to the logit of a row and a key of a slice.
double bias_of(const Problem& p, const BiasTerm& t, const Storage& bias, Index slice, Index row, Index key) {
    const Index entry = slice / p.heads, head = slice % p.heads;
    Index at = t.batch == BiasTerm::Batch::shared     ? 0
               : t.batch == BiasTerm::Batch::by_group ? entry / p.bias.group
                                                      : entry;
    if (t.by_head) at = at * p.heads + head;
    float x = 0;
    bias.read(at, {t.by_query ? row : 0, 1}, {key, 1}, &x);
    return static_cast<double>(x);
}

/// The logit `s` after soft-cap, biases and ALiBi, before the mask.
double finished(const Problem& p, const Inputs& in, double s, Index slice, Index row, Index key) {
    if (p.soft_cap) s = *p.soft_cap * std::tanh(s / *p.soft_cap);
    for (std::size_t k = 0; k < p.bias.terms.size(); ++k)
        s += bias_of(p, p.bias.terms[k], *in.at(bias_tensors[k]), slice, row, key);
    if (p.alibi > 0) {
        const Index query = row / p.packed, head = slice % p.heads * p.packed + row % p.packed;
        s -=
            static_cast<double>(alibi_slope(head, p.alibi)) * static_cast<double>(std::abs(query + p.diagonal() - key));
    }
    return s;
}

}  // namespace

double scale_of_logits(const Problem& p) { return p.scale ? *p.scale : 1.0 / std::sqrt(static_cast<double>(p.dim)); }

Matrix products(const Problem& p, const Inputs& in, Index slice, Span rows, Span keys) {
    const Matrix q = rows_of(exact(in, "Q"), slice, rows);
    Matrix s(rows.size, keys.size);
    const Tiles chunks(keys.size, key_chunk);
    for (Index c = 0; c < chunks.count(); ++c) {
        const Span j = chunks[c], of_all{keys.begin + j.begin, j.size};
        s.middleCols(j.begin, j.size).noalias() =
            scale_of_logits(p) * q * rows_of(exact(in, "K"), p.kv_slice({slice, 1}), of_all).transpose();
    }
    return s;
}

Matrix logits(const Problem& p, const Inputs& in, Index slice, Span rows, Span keys) {
    Matrix s = products(p, in, slice, rows, keys);
    if (p.soft_cap || p.bias || p.alibi > 0)
        for (Index r = 0; r < rows.size; ++r)
            for (Index c = 0; c < keys.size; ++c)
                s(r, c) = finished(p, in, s(r, c), slice, rows.begin + r, keys.begin + c);
    for (Index r = 0; p.mask.hides() && r < rows.size; ++r) {
        for (Index c = 0; c < keys.size; ++c)
            if (!p.sees(rows.begin + r, keys.begin + c)) s(r, c) = -infinity;
        const bool alike = p.mask.hidden_rows() == HiddenRows::mean;
        if (alike && p.mask.blind()->has((rows.begin + r) / p.packed)) s.row(r).setZero();
    }
    return s;
}

void drop(Matrix& s, const Problem& p, Index slice, Span rows, Span keys) {
    const Kept kept{p.dropout.seed, p.dropout.threshold()};
    std::vector<float> keep(static_cast<std::size_t>(keys.size));
    for (Index r = 0; r < rows.size; ++r) {
        const Index row = rows.begin + r;
        kept.of_row(slice * p.packed + row % p.packed, row / p.packed, keys, keep.data());
        for (Index c = 0; c < keys.size; ++c)
            s(r, c) = keep[static_cast<std::size_t>(c)] > 0 ? s(r, c) / (1 - p.dropout.p) : 0;
    }
}

}  // namespace tilescope
