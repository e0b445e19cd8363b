#include "lab/model/style.hpp"

#include "algorithms/contract/kernel_description.hpp"

namespace tilescope::lab {

Style style_of(const Experiment& e) {
    const bool tensor_cores =
        e.problem.query_type() != Dtype::f32 && e.algorithm->computes->features.has(Feature::head_dims);
    return tensor_cores ? Style::tensor_cores : Style::cuda_cores;
}

bool is_for_few_rows(const Experiment& e) {
    return style_of(e) == Style::tensor_cores && e.tiling.br <= e.algorithm->kernel->short_tiles.rows;
}

}  // namespace tilescope::lab
