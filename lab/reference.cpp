#include "lab/reference.hpp"

#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "core/machine/parallel.hpp"

namespace tilescope {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using FloatMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index key_chunk = 1024;              // keys converted to double at a time
constexpr Index row_block_elements = 1 << 20;  // of S at a time
constexpr Index most_rows = 64;

Matrix rows_of(const Storage& t, Index slice, Span rows) {
    FloatMatrix f(rows.size, t.cols());
    t.read(slice, rows, {0, t.cols()}, f.data());
    return f.cast<double>();
}

/// Softmax of each row in place; a row of -inf becomes 0.
void softmax_rows(Matrix& s) {
    for (Index r = 0; r < s.rows(); ++r) {
        auto row = s.row(r).array();
        const double m = row.maxCoeff();
        if (m == -infinity) {
            row.setZero();
            continue;
        }
        row = (row - m).exp();
        row /= row.sum();
    }
}

Matrix attention_rows(const Problem& p, const Inputs& in, Index slice, Span rows) {
    const Storage &Q = *in.at("Q"), &K = *in.at("K"), &V = *in.at("V");
    const Index kv = p.kv_slice({slice, 1});
    const double scale = p.scale ? *p.scale : 1.0 / std::sqrt(static_cast<double>(p.dim));
    const Matrix q = rows_of(Q, slice, rows);
    Matrix s(rows.size, p.seq_k);
    const Tiles chunks(p.seq_k, key_chunk);
    for (Index c = 0; c < chunks.count(); ++c) {
        const Span j = chunks[c];
        s.middleCols(j.begin, j.size).noalias() = scale * q * rows_of(K, kv, j).transpose();
    }
    if (p.causal)
        for (Index r = 0; r < rows.size; ++r)
            for (Index c = std::max<Index>(0, rows.begin + r + p.diagonal() + 1); c < p.seq_k; ++c) s(r, c) = -infinity;
    softmax_rows(s);
    Matrix o = Matrix::Zero(rows.size, p.dim_v);
    for (Index c = 0; c < chunks.count(); ++c) {
        const Span j = chunks[c];
        o.noalias() += s.middleCols(j.begin, j.size) * rows_of(V, kv, j);
    }
    return o;
}

Matrix reference(Family family, const Problem& p, const Inputs& in, Index slice, Span rows) {
    if (family == Family::attention) return attention_rows(p, in, slice, rows);
    Matrix x = rows_of(*in.at("X"), slice, rows);
    softmax_rows(x);
    return x;
}

/// Sums over elements whose order does not depend on threads: one per block of rows, added up in order at the end.
struct Partial {
    double max_abs = 0, squares = 0;
    Count finite = 0, not_finite = 0;
};

Partial difference(const double* expected, const Storage& output, Index slice, Span rows) {
    const Matrix actual = rows_of(output, slice, rows);
    Partial p;
    for (Index k = 0; k < actual.size(); ++k) {
        const double want = expected[k], got = actual.data()[k];
        if (!std::isfinite(got)) {
            p.not_finite += std::isfinite(want);
            continue;
        }
        if (!std::isfinite(want)) continue;
        p.max_abs = std::max(p.max_abs, std::abs(got - want));
        p.squares += (got - want) * (got - want);
        ++p.finite;
    }
    return p;
}

OutputError total(const std::vector<Partial>& parts, std::size_t output, std::size_t outputs, Index elements) {
    OutputError e{.elements = elements};
    double squares = 0;
    Count finite = 0;
    for (std::size_t k = output; k < parts.size(); k += outputs) {
        e.max_abs = std::max(e.max_abs, parts[k].max_abs);
        e.not_finite += parts[k].not_finite;
        squares += parts[k].squares;
        finite += parts[k].finite;
    }
    e.rms = finite > 0 ? std::sqrt(squares / static_cast<double>(finite)) : 0;
    return e;
}

/// The rows that one thread takes at a time.
Tiles row_blocks(const Problem& p) { return {p.seq_q, std::clamp<Index>(row_block_elements / p.seq_k, 1, most_rows)}; }

/// Calls work(k) for the numbers below `n`, on several threads. Throws Interrupted.
template <class F>
void share_out(Index n, int threads, Control* control, F&& work) {
    if (control) control->blocks_done = 0, control->blocks_total = n;
    at_once(n, threads, [&](Index, Index k) {
        if (control && control->stop) throw Interrupted();
        work(k);
        if (control) ++control->blocks_done;
    });
}

}  // namespace

std::vector<double> reference_rows(Family family, const Problem& problem, const Inputs& inputs, Index slice,
                                   Span rows) {
    const Matrix m = reference(family, problem, inputs, slice, rows);
    return {m.data(), m.data() + m.size()};
}

std::vector<OutputError> compare_with_reference(Family family, const Problem& p, const Inputs& inputs,
                                                const std::vector<std::shared_ptr<const Storage>>& outputs, int threads,
                                                Control* control) {
    const Tiles rows = row_blocks(p);
    const Index blocks = p.batch_heads() * rows.count();
    std::vector<Partial> parts(static_cast<std::size_t>(blocks) * outputs.size());
    share_out(blocks, threads, control, [&](Index k) {
        const Index slice = k / rows.count();
        const Span span = rows[k % rows.count()];
        const Matrix expected = reference(family, p, inputs, slice, span);
        for (std::size_t o = 0; o < outputs.size(); ++o)
            parts[static_cast<std::size_t>(k) * outputs.size() + o] =
                difference(expected.data(), *outputs[o], slice, span);
    });
    std::vector<OutputError> errors;
    for (std::size_t o = 0; o < outputs.size(); ++o)
        errors.push_back(total(parts, o, outputs.size(), outputs[o]->size()));
    return errors;
}

Reference::Reference(Family family, const Problem& p, const Inputs& inputs, int threads, Control* control)
    : rows_(p.seq_q),
      cols_(family == Family::softmax ? p.seq_k : p.dim_v),
      threads_(threads),
      values_(static_cast<std::size_t>(p.batch_heads() * rows_ * cols_)) {
    const Tiles rows = row_blocks(p);
    share_out(p.batch_heads() * rows.count(), threads, control, [&](Index k) {
        const Index slice = k / rows.count();
        const Span span = rows[k % rows.count()];
        const Matrix m = reference(family, p, inputs, slice, span);
        std::copy(m.data(), m.data() + m.size(), values_.data() + (slice * rows_ + span.begin) * cols_);
    });
    for (const double v : values_)
        if (std::isfinite(v)) largest_ = std::max(largest_, std::abs(v));
}

OutputError Reference::compare(const Storage& output) const {
    const Tiles rows(rows_, most_rows);
    std::vector<Partial> parts(static_cast<std::size_t>(output.slices() * rows.count()));
    share_out(static_cast<Index>(parts.size()), threads_, nullptr, [&](Index k) {
        const Index slice = k / rows.count();
        const Span span = rows[k % rows.count()];
        parts[static_cast<std::size_t>(k)] =
            difference(values_.data() + (slice * rows_ + span.begin) * cols_, output, slice, span);
    });
    return total(parts, 0, 1, output.size());
}

}  // namespace tilescope
