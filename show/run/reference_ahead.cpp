#include "show/run/reference_ahead.hpp"

#include <algorithm>

namespace tilescope::show {
using namespace lab;
namespace {

/// How many rows a unit of the job has: fewer where a row needs many products.
Index rows_at_a_time(const Problem& p) {
    constexpr Index products = 8'000'000;  // of a unit; every unit converts the keys and values again
    return std::clamp<Index>(products / (p.seq_k * (p.dim + p.dim_v)), 1, 64);
}

}  // namespace

ReferenceAhead::ReferenceAhead(const Computation& computation, const Problem& problem, const Inputs& inputs)
    : computation_(&computation),
      problem_(problem),
      inputs_(inputs),
      rows_(problem.seq_q, rows_at_a_time(problem)),
      slices_(static_cast<std::size_t>(problem.batch_heads())),
      job_([this](Control&) { return work_out_next_rows(); }) {}

/// Returns how many units are left.
Index ReferenceAhead::work_out_next_rows() {
    const Index slice = next_ / rows_.count();
    const Span rows = rows_[next_ % rows_.count()];
    const std::vector<double> some = reference_rows(*computation_, problem_, inputs_, slice, rows);
    std::vector<double>& to = slices_[static_cast<std::size_t>(slice)];
    const Index cols = static_cast<Index>(some.size()) / rows.size;
    if (rows.begin == 0) to.resize(static_cast<std::size_t>(problem_.seq_q * cols));  // once: the rows never move
    std::copy(some.begin(), some.end(), to.begin() + static_cast<std::ptrdiff_t>(rows.begin * cols));
    return problem_.batch_heads() * rows_.count() - ++next_;
}

const std::vector<double>& ReferenceAhead::slice(Index slice, Index rows) {
    job_.finish(slice * rows_.count() + ceil_div(rows, rows_.tile_size()));
    return slices_[static_cast<std::size_t>(slice)];
}

}  // namespace tilescope::show
