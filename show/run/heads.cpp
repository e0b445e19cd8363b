#include "show/run/heads.hpp"

#include "core/text/message.hpp"

namespace tilescope::show {
using text::message;

std::string head_word(const Problem& p) { return message(p.packed > 1 ? "heads.kv_head" : "heads.head"); }

std::string head_name(const Problem& p, Index head) {
    return message(p.packed > 1 ? "heads.number_of_kv_head" : "heads.number_of_head", head + 1);
}

std::string packed_heads_text(const Problem& p, Index head) {
    if (p.packed == 1) return "";
    return message("heads.packed", head * p.packed + 1, (head + 1) * p.packed);
}

std::string packed_head_name(const Problem& p, Index head, Index row) {
    return message("heads.packed_one", head * p.packed + row % p.packed + 1);
}

Index slice_of(const Problem& p, const RecordedTensor& t, Index head) {
    for (std::size_t k = 0; k < p.bias.terms.size(); ++k)
        if (t.name == bias_tensors[k] || t.name == bias_gradients[k])
            return p.bias.slice_of(p.bias.terms[k], head, p.heads);
    return head / t.heads_per_slice;
}

}  // namespace tilescope::show
