#include "algorithms/contract/algorithm.hpp"

#include "algorithms/contract/exact.hpp"
#include "algorithms/contract/kernel_description.hpp"
#include "core/machine/mistakes.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope {
using text::message;

const KernelDescription no_kernel = {};

Hbm Tensors::operator[](Name asked) const {
    for (const auto& [name, tensor] : tensors_)
        if (name == asked.name) return tensor;
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors_) names.emplace_back(name);
    throw Misuse(message("tensors.undeclared", text::shown(std::string(asked.name)), text::listed(names)), asked.here);
}

const std::vector<const Computation*>& computations() {
    static const std::vector<const Computation*> all = {&computation::softmax, &computation::attention,
                                                        &computation::attention_backward};
    return all;
}

std::string exact_name(std::string_view tensor) { return std::string(tensor) + "_exact"; }

const Storage& exact(const Inputs& inputs, std::string_view tensor) {
    const auto found = inputs.find(exact_name(tensor));
    return found != inputs.end() ? *found->second : *inputs.find(tensor)->second;
}

TensorDecl declare(const Problem& p, const char* name, Role role, Meaning meaning, Sliced sliced, Index rows,
                   Index cols, Dtype dtype) {
    const Index slices = sliced == Sliced::by_head      ? p.batch_heads()
                         : sliced == Sliced::by_kv_head ? p.kv_slices()
                         : sliced == Sliced::by_batch   ? p.batch
                                                        : 1;
    return {name, role, meaning, sliced, slices, rows, cols, dtype};
}

TensorDecl declare_gradient(const Problem& p, const char* name, Role role, Meaning of, Sliced sliced, Index rows,
                            Index cols, Dtype dtype) {
    TensorDecl t = declare(p, name, role, Meaning::gradient, sliced, rows, cols, dtype);
    t.gradient_of = of;
    return t;
}

}  // namespace tilescope
