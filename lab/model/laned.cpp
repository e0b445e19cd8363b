#include "lab/model/laned.hpp"

#include <memory>

#include "core/text/numbers.hpp"
#include "core/time/lane_programs.hpp"
#include "core/time/rates.hpp"
#include "lab/model/style.hpp"

namespace tilescope::lab {
namespace {

/// A problem of one head and one row tile that sees all of `steps` full key tiles.
Problem of_steps(const Experiment& e, Index steps) {
    Problem p = e.problem;
    p.batch = p.heads = p.kv_heads = p.packed = p.bias.group = 1;
    p.seq_q = e.tiling.br, p.seq_k = steps * e.tiling.bc;
    p.mask = {};
    return p;
}

}  // namespace

bool has_timed_lanes(const Experiment& e) {
    constexpr double hopper = 9, blackwell = 10;
    const double capability = text::to_number(e.gpu.compute_capability).value_or(0);
    return e.algorithm->kernel->complete && style_of(e) == Style::tensor_cores && capability >= hopper &&
           capability < blackwell;
}

PlayedLanes played_lanes(const Experiment& e, Index steps) {
    const auto programs = std::make_shared<LanePrograms>(rates_of(e.gpu), LaneConstants{});
    Gpu gpu(e.gpu, exact_mode, 1);
    gpu.listen(*programs);
    run_program(gpu, *e.algorithm, of_steps(e, steps), e.tiling, {});
    return {programs->programs(), play_lanes(programs->programs(), programs->machine(), true), programs};
}

}  // namespace tilescope::lab
