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

TensorDecl declare(const Problem& p, const char* name, Role role, Meaning meaning, Sliced sliced, Index rows,
                   Index cols, Dtype dtype) {
    const Index slices = sliced == Sliced::by_head      ? p.batch_heads()
                         : sliced == Sliced::by_kv_head ? p.kv_slices()
                         : sliced == Sliced::by_batch   ? p.batch
                                                        : 1;
    return {name, role, meaning, sliced, slices, rows, cols, dtype};
}

std::vector<TensorDecl> attention_tensors(const Problem& p) {
    return {declare(p, "Q", Role::input, Meaning::query, Sliced::by_head, p.seq_q, p.dim, p.dtype),
            declare(p, "K", Role::input, Meaning::key, Sliced::by_kv_head, p.seq_k, p.dim, p.dtype),
            declare(p, "V", Role::input, Meaning::value, Sliced::by_kv_head, p.seq_k, p.dim_v, p.dtype),
            declare(p, "O", Role::output, Meaning::output, Sliced::by_head, p.seq_q, p.dim_v, p.dtype)};
}

std::vector<TensorDecl> softmax_tensors(const Problem& p) {
    return {declare(p, "X", Role::input, Meaning::score, Sliced::by_head, p.seq_q, p.seq_k, p.dtype),
            declare(p, "Y", Role::output, Meaning::output, Sliced::by_head, p.seq_q, p.seq_k, p.dtype)};
}

}  // namespace tilescope
