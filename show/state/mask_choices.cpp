#include "show/state/mask_choices.hpp"

#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/mask.hpp"

namespace tilescope::show {
using lab::Options;
using text::message;

void MaskChoice::set(Options& o) const {
    o.window_left = left, o.window_right = right;
    o.documents = documents, o.block_mask = block_mask, o.mask_block = mask_block;
}

std::vector<MaskChoice> mask_choices(const Problem& p, bool causal) {
    const Index reach = std::max<Index>(1, p.seq_k / 4);
    const std::optional<Index> after = causal ? std::nullopt : std::optional(reach);
    std::vector<MaskChoice> all = {
        {"all", message("mask_choices.all_keys"), message("mask_choices.about_all_keys"), {}, {}, "", "", ""},
        {"window", message("mask_choices.window"), message("mask_choices.about_window"), reach, after, "", "", ""}};
    // Four documents of unequal lengths: their boundaries need not be those of tiles.
    if (p.seq_k >= 8) {
        const Index half = p.seq_k / 2, quarter = p.seq_k / 4, eighth = p.seq_k / 8;
        const std::string lengths = std::to_string(quarter) + '+' + std::to_string(half) + '+' +
                                    std::to_string(eighth) + '+' + std::to_string(p.seq_k - half - quarter - eighth);
        all.push_back({"documents",
                       message("mask_choices.documents"),
                       message("mask_choices.about_documents"),
                       {},
                       {},
                       lengths,
                       "",
                       ""});
    }
    const std::string rows = std::to_string(std::max<Index>(1, p.seq_q / 8)),
                      cols = std::to_string(std::max<Index>(1, p.seq_k / 8));
    const std::pair<const char*, const char*> patterns[] = {{"butterfly", "mask_choices.about_butterfly"},
                                                            {"band:1", "mask_choices.about_band"},
                                                            {"strided:3", "mask_choices.about_strided"},
                                                            {"global:1", "mask_choices.about_global"}};
    for (const auto& [name, about] : patterns)
        all.push_back({name, name, message(about), {}, {}, "", name, rows + 'x' + cols});
    return all;
}

std::string mask_shown(const Options& o) {
    std::vector<std::string> parts;
    if (o.window_left || o.window_right) {
        const auto side = [](const std::optional<Index>& n) {
            return n ? std::to_string(*n) : message("mask_choices.all_of_side");
        };
        const bool one = o.causal.value_or(false) || o.window_left == o.window_right;
        parts.push_back(one ? message("mask_choices.window_of", side(o.window_left))
                            : message("mask_choices.window_of_sides", side(o.window_left), side(o.window_right)));
    }
    if (!o.documents.empty())
        parts.push_back(message("mask_choices.number_of_documents", lab::to_documents(o.documents).size()));
    if (!o.block_mask.empty()) parts.push_back(o.block_mask);
    return parts.empty() ? message("mask_choices.all_keys") : text::join(parts, ", ");
}

}  // namespace tilescope::show
