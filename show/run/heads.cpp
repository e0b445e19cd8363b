#include "show/run/heads.hpp"

#include "core/text/numbers.hpp"

namespace tilescope::show {

std::string head_word(const Problem& p) { return p.packed > 1 ? "KV head" : "head"; }

std::string head_name(const Problem& p, Index head) { return head_word(p) + ' ' + text::grouped(head + 1); }

std::string packed_heads_text(const Problem& p, Index head) {
    if (p.packed == 1) return "";
    return "query heads " + text::grouped(head * p.packed + 1) + " to " + text::grouped((head + 1) * p.packed);
}

std::string packed_head_name(const Problem& p, Index head, Index row) {
    return "query head " + text::grouped(head * p.packed + row % p.packed + 1);
}

Index slice_of(const Problem& p, const RecordedTensor& t, Index head) {
    for (std::size_t k = 0; k < p.bias.terms.size(); ++k)
        if (t.name == bias_tensors[k] || t.name == bias_gradients[k])
            return p.bias.slice_of(p.bias.terms[k], head, p.heads);
    return head / t.heads_per_slice;
}

}  // namespace tilescope::show
