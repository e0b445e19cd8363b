#include "cli/small_check.hpp"

#include <algorithm>

#include "lab/run/judgement.hpp"
#include "lab/run/reference.hpp"
#include "lab/system/signals.hpp"
#include "lab/workload/packing.hpp"
#include "show/run/make_run.hpp"

namespace tilescope::cli {
using namespace lab;

Problem small_problem(Problem p) {
    constexpr Index most = 512;
    p.batch = p.bias.group = 1, p.heads = p.heads / p.kv_heads, p.kv_heads = 1;
    p.heads = std::min<Index>(p.heads, 2);
    p.seq_q = std::min(p.seq_q, most), p.seq_k = std::min(p.seq_k, most);
    return p;
}

Report run_small(const Report& counted, const Options& options, const Request& given) {
    Request request = given;
    request.problem = small_problem(request.problem);
    Experiment e = counted.experiment;
    e.problem = problem_of(*e.algorithm, request);
    const Inputs inputs = show::inputs_for_part(options, given, *e.algorithm)(request.problem);
    const int threads = static_cast<int>(options.threads);
    Report report = execute(e, inputs, threads, &control());
    report.errors = compare_with_reference(*e.algorithm->computes, request.problem, inputs, {report.outputs}, threads,
                                           &control())[0];
    return report;
}

void add_small(Json& report, const Report& small, const Request& request) {
    const Experiment& e = small.experiment;
    const Json problem =
        lab::to_json(Experiment{e.algorithm, small_problem(request.problem), e.tiling, e.gpu}).at("problem");
    const OutputError* error = small.error();
    const bool tells = error && error->tells();
    report["small_problem"] = {{"problem", problem},
                               {"max_abs_error", tells ? Json(error->max_abs) : Json(nullptr)},
                               {"rms_error", tells ? Json(error->rms) : Json(nullptr)},
                               {"wrong_outputs", wrong_outputs(small)}};
    for (const std::string& wrong : about_wrong_outputs(small)) report["notes"].push_back(wrong);
}

}  // namespace tilescope::cli
