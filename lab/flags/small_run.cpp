#include "lab/flags/small_run.hpp"

#include <algorithm>

#include "algorithms/contract/packed.hpp"
#include "lab/run/reference.hpp"
#include "lab/workload/rounding.hpp"

namespace tilescope::lab {
namespace {

/// Cuts the inputs of a larger problem to a part of it: the first slices, rows and columns.
Inputs first_of_each(const Inputs& all, const std::vector<TensorDecl>& wanted) {
    Inputs first;
    for (const TensorDecl& t : wanted) {
        const auto found = all.find(std::string_view(t.name));
        if (t.role != Role::input || found == all.end()) continue;
        auto to = std::make_shared<Storage>(before_rounding(t.dtype), t.slices, t.rows, t.cols);
        std::vector<float> values(static_cast<std::size_t>(t.rows * t.cols));
        for (Index slice = 0; slice < t.slices; ++slice) {
            found->second->read(slice, {0, t.rows}, {0, t.cols}, values.data());
            to->write(slice, {0, t.rows}, {0, t.cols}, values.data());
        }
        first.emplace(t.name, std::move(to));
    }
    return first;
}

}  // namespace

std::function<Inputs(const Problem& part)> inputs_for_part(const Options& options, const Request& request,
                                                           const Algorithm& algorithm) {
    return [options, request, &algorithm](const Problem& recorded) {
        Request part = request;
        part.problem = recorded;
        part.inputs = first_of_each(request.inputs, algorithm.tensors(unpacked(recorded), {1, 1}));
        return inputs_for(options, part, algorithm);
    };
}

Problem small_problem(Problem p) {
    constexpr Index most = 512;
    p.batch = p.bias.group = 1, p.heads = p.heads / p.kv_heads, p.kv_heads = 1;
    p.heads = std::min<Index>(p.heads, 2);
    p.seq_q = std::min(p.seq_q, most), p.seq_k = std::min(p.seq_k, most);
    return p;
}

Report run_small(const Report& counted, const Options& options, const Request& given, Control* control) {
    Request request = given;
    request.problem = small_problem(request.problem);
    Experiment e = counted.experiment;
    e.problem = problem_of(*e.algorithm, request);
    const Inputs inputs = inputs_for_part(options, given, *e.algorithm)(request.problem);
    const int threads = static_cast<int>(options.threads);
    Report report = execute(e, inputs, threads, control);
    report.errors =
        compare_with_reference(*e.algorithm->computes, request.problem, inputs, {report.outputs}, threads, control)[0];
    return report;
}

}  // namespace tilescope::lab
