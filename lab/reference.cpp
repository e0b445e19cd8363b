#include "lab/reference.hpp"

#include <cmath>

#include "core/machine/parallel.hpp"
#include "lab/followed.hpp"

namespace tilescope::lab {
namespace {

constexpr Index row_block_elements = 1 << 20;  // of a row's length times rows, at a time
constexpr Index most_rows = 64;

/// Sums over elements whose order does not depend on threads: one per block of rows, added up in order at the end.
struct Partial {
    double max_abs = 0, squares = 0;
    Count compared = 0, not_finite = 0, finite_instead = 0;
};

Partial difference(const double* expected, const Storage& output, Index slice, Span rows) {
    std::vector<float> actual(static_cast<std::size_t>(rows.size * output.cols()));
    output.read(slice, rows, {0, output.cols()}, actual.data());
    Partial p;
    for (std::size_t k = 0; k < actual.size(); ++k) {
        const double want = expected[k], got = static_cast<double>(actual[k]);
        if (!std::isfinite(want) || !std::isfinite(got)) {
            p.not_finite += std::isfinite(want);
            p.finite_instead += std::isfinite(got);
            continue;
        }
        p.max_abs = std::max(p.max_abs, std::abs(got - want));
        p.squares += (got - want) * (got - want);
        ++p.compared;
    }
    return p;
}

OutputError total(const std::vector<Partial>& parts, Index elements) {
    OutputError e{.elements = elements};
    double squares = 0;
    for (const Partial& p : parts) {
        e.max_abs = std::max(e.max_abs, p.max_abs);
        e.not_finite += p.not_finite;
        e.finite_instead += p.finite_instead;
        squares += p.squares;
        e.compared += p.compared;
    }
    if (e.compared > 0) e.rms = std::sqrt(squares / static_cast<double>(e.compared));
    return e;
}

/// The rows that one thread takes at a time.
Tiles row_blocks(const Problem& p) { return {p.seq_q, std::clamp<Index>(row_block_elements / p.seq_k, 1, most_rows)}; }

/// Calls work(k) for the numbers below `n`, on several threads. Throws Interrupted.
template <class F>
void share_out(Index n, int threads, Control* control, F&& work) {
    const Followed followed(control, n);
    at_once(n, threads, [&](Index, Index k) {
        followed.step();
        work(k);
    });
}

/// work(k, slice, rows, reference of these rows) for every block of rows of every slice.
template <class F>
void for_row_blocks(const Computation& c, const Problem& p, const Inputs& inputs, int threads, Control* control,
                    F&& work) {
    const Tiles rows = row_blocks(p);
    share_out(p.batch_heads() * rows.count(), threads, control, [&](Index k) {
        const Index slice = k / rows.count();
        const Span span = rows[k % rows.count()];
        work(static_cast<std::size_t>(k), slice, span, c.reference(p, inputs, slice, span));
    });
}

}  // namespace

std::vector<double> reference_rows(const Computation& c, const Problem& p, const Inputs& inputs, Index slice,
                                   Span rows) {
    return std::move(c.reference(p, inputs, slice, rows).find(c.output)->second);
}

std::vector<OutputErrors> compare_with_reference(const Computation& c, const Problem& p, const Inputs& inputs,
                                                 const std::vector<Outputs>& runs, int threads, Control* control) {
    struct Compared {
        std::size_t run;
        std::string name;
        const Storage* output;
        std::vector<Partial> parts;
    };
    const auto blocks = static_cast<std::size_t>(p.batch_heads() * row_blocks(p).count());
    const ReferenceRows known = c.reference(p, inputs, 0, {0, 1});
    std::vector<Compared> all;
    for (std::size_t r = 0; r < runs.size(); ++r)
        for (const auto& [name, output] : runs[r])
            if (known.contains(name)) all.push_back({r, name, output.get(), std::vector<Partial>(blocks)});
    for_row_blocks(
        c, p, inputs, threads, control, [&](std::size_t k, Index slice, Span rows, const ReferenceRows& expected) {
            for (Compared& each : all)
                each.parts[k] = difference(expected.find(each.name)->second.data(), *each.output, slice, rows);
        });
    std::vector<OutputErrors> errors(runs.size());
    for (const Compared& each : all) errors[each.run][each.name] = total(each.parts, each.output->size());
    return errors;
}

Reference::Reference(const Computation& c, const Problem& p, const Inputs& inputs, int threads, Control* control)
    : rows_(p.seq_q), threads_(threads) {
    for (const auto& [name, row] : c.reference(p, inputs, 0, {0, 1}))
        values_[name].resize(static_cast<std::size_t>(p.batch_heads() * rows_) * row.size());
    for_row_blocks(
        c, p, inputs, threads, control, [&](std::size_t, Index slice, Span rows, const ReferenceRows& expected) {
            for (const auto& [name, some] : expected) {
                const Index cols = static_cast<Index>(some.size()) / rows.size;
                std::copy(some.begin(), some.end(), values_.at(name).data() + (slice * rows_ + rows.begin) * cols);
            }
        });
    for (const double v : values_.at(c.output))
        if (std::isfinite(v)) largest_ = std::max(largest_, std::abs(v));
}

std::optional<OutputError> Reference::compare(const std::string& name, const Storage& output) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    const Tiles rows(rows_, most_rows);
    std::vector<Partial> parts(static_cast<std::size_t>(output.slices() * rows.count()));
    share_out(static_cast<Index>(parts.size()), threads_, nullptr, [&](Index k) {
        const Index slice = k / rows.count();
        const Span span = rows[k % rows.count()];
        parts[static_cast<std::size_t>(k)] =
            difference(found->second.data() + (slice * rows_ + span.begin) * output.cols(), output, slice, span);
    });
    return total(parts, output.size());
}

}  // namespace tilescope::lab
