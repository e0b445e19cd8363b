#include "show/state/mask_choices.hpp"

#include <algorithm>

#include "core/text/words.hpp"
#include "lab/flags/mask.hpp"

namespace tilescope::show {
using lab::Options;

void MaskChoice::set(Options& o) const {
    o.window_left = left, o.window_right = right;
    o.documents = documents, o.block_mask = block_mask, o.mask_block = mask_block;
}

std::vector<MaskChoice> mask_choices(const Problem& p, bool causal) {
    const Index reach = std::max<Index>(1, p.seq_k / 4);
    const std::optional<Index> after = causal ? std::nullopt : std::optional(reach);
    std::vector<MaskChoice> all = {
        {"all", "all keys", "A query sees all keys, or all up to its own place.", {}, {}, "", "", ""},
        {"window", "window", "A query sees a quarter of the keys on its side: a sliding window.", reach, after, "", "",
         ""}};
    // Four documents of unequal lengths: their boundaries need not be those of tiles.
    if (p.seq_k >= 8) {
        const Index half = p.seq_k / 2, quarter = p.seq_k / 4, eighth = p.seq_k / 8;
        const std::string lengths = std::to_string(quarter) + '+' + std::to_string(half) + '+' +
                                    std::to_string(eighth) + '+' + std::to_string(p.seq_k - half - quarter - eighth);
        all.push_back({"documents",
                       "documents",
                       "Four sequences one after the other: a query sees its own.",
                       {},
                       {},
                       lengths,
                       "",
                       ""});
    }
    const std::string rows = std::to_string(std::max<Index>(1, p.seq_q / 8)),
                      cols = std::to_string(std::max<Index>(1, p.seq_k / 8));
    const std::pair<const char*, const char*> patterns[] = {
        {"butterfly", "Blocks whose numbers differ in one bit at most: FlashAttention-1's block-sparse pattern."},
        {"band:1", "Blocks of the diagonal and beside it: local attention."},
        {"strided:3", "Blocks up to the diagonal that are near, and every third."},
        {"global:1", "The first rows and columns of blocks, and those beside the diagonal."}};
    for (const auto& [name, about] : patterns) all.push_back({name, name, about, {}, {}, "", name, rows + 'x' + cols});
    return all;
}

std::string mask_shown(const Options& o) {
    std::vector<std::string> parts;
    if (o.window_left || o.window_right) {
        const auto side = [](const std::optional<Index>& n) { return n ? std::to_string(*n) : std::string("all"); };
        const bool one = o.causal.value_or(false) || o.window_left == o.window_right;
        parts.push_back("window of " + (one ? side(o.window_left) : side(o.window_left) + ", " + side(o.window_right)));
    }
    if (!o.documents.empty())
        parts.push_back(text::counted(static_cast<Index>(lab::to_documents(o.documents).size()), "document"));
    if (!o.block_mask.empty()) parts.push_back(o.block_mask);
    return parts.empty() ? "all keys" : text::join(parts, ", ");
}

}  // namespace tilescope::show
