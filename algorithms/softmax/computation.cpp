// Softmax of the rows of a matrix, straight from the definition.
#include "algorithms/contract/computation.hpp"

#include "algorithms/contract/matrix.hpp"

namespace tilescope {
namespace {

ReferenceRows softmax_reference(const Problem&, const Inputs& in, Index slice, Span rows) {
    Matrix x = rows_of(*in.at("X"), slice, rows);
    softmax_rows(x);
    return {{"Y", values_of(x)}};
}

std::vector<TensorDecl> softmax_tensors(const Problem& p) {
    return {declare(p, "X", Role::input, Meaning::score, Sliced::by_head, p.seq_q, p.seq_k, p.dtype),
            declare(p, "Y", Role::output, Meaning::output, Sliced::by_head, p.seq_q, p.seq_k, p.dtype)};
}

}  // namespace

const Computation computation::softmax{.name = "softmax",
                                       .title = "computation.softmax",
                                       .slice = "matrix",
                                       .output = "Y",
                                       .accumulates = false,
                                       .features = {},
                                       .needs = {.other_flops = 3},  // exp, a sum's addition, a division
                                       .file_flag = "--x",
                                       .tensors = softmax_tensors,
                                       .reference = softmax_reference};

}  // namespace tilescope
