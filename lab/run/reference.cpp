#include "lab/run/reference.hpp"

#include <cmath>
#include <functional>
#include <set>

#include "core/machine/parallel.hpp"
#include "lab/workload/followed.hpp"
#include "lab/workload/rounding.hpp"

namespace tilescope::lab {
namespace {

constexpr Index row_block_elements = 1 << 20;  // of a block of rows: row length times rows
constexpr Index most_rows = 64;

/// Sums over the elements of a block of rows. Blocks are added up in order at the end, whichever threads did them.
struct Partial {
    double max_abs = 0, largest = 0, squares = 0;
    Count compared = 0, not_finite = 0, finite_instead = 0, minus_infinite = 0;
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
            p.minus_infinite += std::isinf(want) && want < 0 && got == want;
            continue;
        }
        p.max_abs = std::max(p.max_abs, std::abs(got - want));
        p.largest = std::max(p.largest, std::abs(want));
        p.squares += (got - want) * (got - want);
        ++p.compared;
    }
    return p;
}

OutputError total(const std::vector<Partial>& parts, Index elements, bool finite_inputs) {
    OutputError e{.elements = elements, .finite_inputs = finite_inputs};
    double squares = 0;
    for (const Partial& p : parts) {
        e.max_abs = std::max(e.max_abs, p.max_abs);
        e.largest = std::max(e.largest, p.largest);
        e.not_finite += p.not_finite;
        e.finite_instead += p.finite_instead;
        e.minus_infinite += p.minus_infinite;
        squares += p.squares;
        e.compared += p.compared;
    }
    if (e.compared > 0) e.rms = std::sqrt(squares / static_cast<double>(e.compared));
    return e;
}

/// Whether all factors that a weight of 0 may multiply are finite: Q, K, V and dO, but not what is added to logits.
bool all_finite(const Computation& c, const Problem& p, const Inputs& inputs) {
    for (const TensorDecl& t : c.tensors(p)) {
        const bool is_factor = t.meaning == Meaning::query || t.meaning == Meaning::key ||
                               t.meaning == Meaning::value || t.meaning == Meaning::gradient;
        const auto given = inputs.find(std::string_view(t.name));
        if (!is_factor || t.role != Role::input || given == inputs.end()) continue;
        const Storage& data = *given->second;
        std::vector<float> row(static_cast<std::size_t>(data.cols()));
        for (Index at = 0; at < data.size(); at += data.cols()) {
            data.read(at, row);
            if (std::any_of(row.begin(), row.end(), [](float x) { return !std::isfinite(x); })) return false;
        }
    }
    return true;
}

/// Outputs with the same rows, and the function that computes their reference.
struct Family {
    std::function<ReferenceRows(const Problem&, const Inputs&, Index slice, Span rows)> reference;
    Index slices, rows, across;

    /// The rows that one thread takes at a time.
    Tiles blocks() const { return {rows, std::clamp<Index>(row_block_elements / across, 1, most_rows)}; }
    Index count() const { return slices * blocks().count(); }
    ReferenceRows first_row(const Problem& p, const Inputs& in) const { return reference(p, in, 0, {0, 1}); }
};
Family of_queries(ReferenceRows (*reference)(const Problem&, const Inputs&, Index, Span), const Problem& p) {
    return {reference, p.batch_heads(), p.seq_q, p.seq_k};
}

std::vector<Family> families(const Computation& c, const Problem& p) {
    std::vector<Family> all = {of_queries(c.reference, p)};
    if (c.reference_of_keys) all.push_back({c.reference_of_keys, p.kv_slices(), p.seq_k, p.seq_q});
    if (!c.reference_of_bias) return all;
    for (const TensorDecl& t : c.tensors(p))
        for (std::size_t k = 0; k < p.bias.terms.size(); ++k)
            if (t.name == std::string_view(bias_gradients[k])) {
                const auto of_bias = [reference = c.reference_of_bias, k](const Problem& problem, const Inputs& in,
                                                                          Index slice, Span rows) {
                    return reference(problem, in, k, slice, rows);
                };
                all.push_back({of_bias, t.slices, t.rows, p.seq_k});
            }
    return all;
}

/// Calls work(k) for the numbers below `n`, on several threads. Throws Interrupted.
template <class F>
void share_out(Index n, int threads, Control* control, F&& work) {
    const Followed followed(control, n);
    at_once(n, threads, [&](Index, Index k) {
        followed.step();
        work(k);
    });
}

/// Calls work(k, slice, rows, reference of these rows) for every block of rows of every slice, family by family.
template <class F>
void for_row_blocks(const std::vector<Family>& all, const Problem& p, const Inputs& inputs, int threads,
                    Control* control, F&& work) {
    Index n = 0;
    for (const Family& f : all) n += f.count();
    share_out(n, threads, control, [&](Index k) {
        auto family = all.begin();
        Index of_family = k;
        for (; of_family >= family->count(); ++family) of_family -= family->count();
        const Tiles rows = family->blocks();
        const Index slice = of_family / rows.count();
        const Span span = rows[of_family % rows.count()];
        work(static_cast<std::size_t>(k), slice, span, family->reference(p, inputs, slice, span));
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
    const std::vector<Family> all_families = families(c, p);
    std::set<std::string, std::less<>> known;
    std::size_t blocks = 0;
    for (const Family& f : all_families) {
        for (const auto& [name, row] : f.first_row(p, inputs)) known.insert(name);
        blocks += static_cast<std::size_t>(f.count());
    }
    std::vector<Compared> all;
    for (std::size_t r = 0; r < runs.size(); ++r)
        for (const auto& [name, output] : runs[r])
            if (known.contains(name)) all.push_back({r, name, output.get(), std::vector<Partial>(blocks)});
    const auto compare = [&](std::size_t k, Index slice, Span rows, const ReferenceRows& expected) {
        for (Compared& each : all)
            if (const auto found = expected.find(each.name); found != expected.end())
                each.parts[k] = difference(found->second.data(), *each.output, slice, rows);
    };
    for_row_blocks(all_families, p, inputs, threads, control, compare);
    std::vector<OutputErrors> errors(runs.size());
    const bool finite = all_finite(c, p, inputs);
    for (const Compared& each : all) errors[each.run][each.name] = total(each.parts, each.output->size(), finite);
    return errors;
}

Inputs with_saved(const Algorithm& algorithm, const Problem& p, Inputs inputs, int threads, Control* control) {
    Inputs saved;
    // The reference needs the saved tensors of the computation, whether the algorithm declares them or not.
    for (const auto& tensors : {algorithm.tensors(p, {1, 1}), algorithm.computes->tensors(p)})
        for (const TensorDecl& t : tensors)
            if (t.saved && !inputs.contains(t.name) && !saved.contains(t.name))
                saved.emplace(t.name, std::make_shared<Storage>(t.dtype, t.slices, t.rows, t.cols));
    if (saved.empty()) return inputs;
    const auto save = [&](std::size_t, Index slice, Span rows, const ReferenceRows& values) {
        for (const auto& [name, tensor] : saved) {
            const std::vector<double>& exact = values.find(name)->second;
            tensor->write(slice, rows, {0, tensor->cols()}, std::vector<float>(exact.begin(), exact.end()).data());
        }
    };
    for_row_blocks({of_queries(algorithm.computes->saved, p)}, p, inputs, threads, control, save);
    inputs.merge(saved);
    return inputs;
}

Inputs inputs_of(const Algorithm& algorithm, const Problem& p, std::uint64_t seed, Distribution distribution,
                 Control* control) {
    const std::vector<TensorDecl> tensors = algorithm.tensors(p, {1, 1});
    return with_saved(algorithm, p, stored_inputs(p, tensors, random_inputs(tensors, seed, distribution, control)), 0,
                      control);
}

Reference::Reference(const Computation& c, const Problem& p, const Inputs& inputs, int threads, Control* control)
    : threads_(threads), finite_inputs_(all_finite(c, p, inputs)) {
    const std::vector<Family> all = families(c, p);
    for (const Family& f : all)
        for (const auto& [name, row] : f.first_row(p, inputs))
            values_[name] = {f.rows, std::vector<double>(static_cast<std::size_t>(f.slices * f.rows) * row.size()), 0};
    const auto keep = [&](std::size_t, Index slice, Span rows, const ReferenceRows& expected) {
        for (const auto& [name, some] : expected) {
            Values& whole = values_.at(name);
            const Index cols = static_cast<Index>(some.size()) / rows.size;
            std::copy(some.begin(), some.end(), whole.elements.data() + (slice * whole.rows + rows.begin) * cols);
        }
    };
    for_row_blocks(all, p, inputs, threads, control, keep);
    for (auto& [name, of] : values_)
        for (const double v : of.elements)
            if (std::isfinite(v)) of.largest = std::max(of.largest, std::abs(v));
}

std::optional<OutputError> Reference::compare(const std::string& name, const Storage& output) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    const Values& whole = found->second;
    const Tiles rows(whole.rows, most_rows);
    std::vector<Partial> parts(static_cast<std::size_t>(output.slices() * rows.count()));
    share_out(static_cast<Index>(parts.size()), threads_, nullptr, [&](Index k) {
        const Index slice = k / rows.count();
        const Span span = rows[k % rows.count()];
        parts[static_cast<std::size_t>(k)] =
            difference(whole.elements.data() + (slice * whole.rows + span.begin) * output.cols(), output, slice, span);
    });
    return total(parts, output.size(), finite_inputs_);
}

}  // namespace tilescope::lab
