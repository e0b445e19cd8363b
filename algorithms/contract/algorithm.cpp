#include "algorithms/contract/algorithm.hpp"

namespace tilescope {

const char* name_of(Family family) { return family == Family::softmax ? "softmax" : "attention"; }

Hbm Tensors::operator[](std::string_view name) const {
    for (const auto& [n, tensor] : tensors_)
        if (n == name) return tensor;
    throw std::logic_error("the algorithm declares no tensor " + std::string(name));
}

const Algorithm* find_algorithm(std::string_view name) {
    for (const Algorithm& a : algorithms())
        if (a.name == name) return &a;
    for (const Algorithm& a : algorithms())
        if (a.formerly && a.formerly == name) return &a;
    return nullptr;
}

std::vector<TensorDecl> attention_tensors(const Problem& p) {
    return {{"Q", Role::input, p.batch_heads(), p.seq_q, p.dim, p.dtype},
            {"K", Role::input, p.kv_slices(), p.seq_k, p.dim, p.dtype},
            {"V", Role::input, p.kv_slices(), p.seq_k, p.dim_v, p.dtype},
            {"O", Role::output, p.batch_heads(), p.seq_q, p.dim_v, p.dtype}};
}

std::vector<TensorDecl> softmax_tensors(const Problem& p) {
    return {{"X", Role::input, p.batch_heads(), p.seq_q, p.seq_k, p.dtype},
            {"Y", Role::output, p.batch_heads(), p.seq_q, p.seq_k, p.dtype}};
}

}  // namespace tilescope
