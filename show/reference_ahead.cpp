#include "show/reference_ahead.hpp"

namespace tilescope::show {
namespace {

constexpr Index rows_at_a_time = 64;  // between looks at whether it is still wanted

/// Empty when it was stopped.
std::vector<double> work_out(std::stop_token stop, Family family, const Problem& p, const Inputs& in, Index slice) {
    std::vector<double> all;
    const Tiles rows(p.seq_q, rows_at_a_time);
    for (Index k = 0; k < rows.count() && !stop.stop_requested(); ++k) {
        const std::vector<double> some = reference_rows(family, p, in, slice, rows[k]);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace

ReferenceAhead::ReferenceAhead(Family family, const Problem& problem, const Inputs& inputs) {
    std::vector<std::promise<std::vector<double>>> promises(static_cast<std::size_t>(problem.batch_heads()));
    for (auto& promise : promises) ready_.push_back(promise.get_future().share());
    thread_ = std::jthread([=, promises = std::move(promises)](std::stop_token stop) mutable {
        for (Index slice = 0; slice < problem.batch_heads() && !stop.stop_requested(); ++slice)
            promises[static_cast<std::size_t>(slice)].set_value(work_out(stop, family, problem, inputs, slice));
    });
}

}  // namespace tilescope::show
