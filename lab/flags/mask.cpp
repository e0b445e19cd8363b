#include "lab/flags/mask.hpp"

#include "algorithms/contract/hidden_rows.hpp"
#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/block_patterns.hpp"
#include "lab/flags/values.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr Index most_keys = Index{1} << 40, most_documents = Index{1} << 20;

}  // namespace

std::vector<Index> to_documents(const std::string& text) {
    const auto number = [&](const std::string& digits, Index most) {
        try {
            return to_index("--documents", digits, {1, most, 256});
        } catch (const UsageError&) {
            throw UsageError(message("mask_flags.no_documents", text::shown(text)));
        }
    };
    std::vector<Index> all;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('+', at), text.size());
        const std::string part = text.substr(at, end - at);
        const std::size_t times = part.find('x');
        const Index n = times == std::string::npos ? 1 : number(part.substr(0, times), most_documents);
        const Index keys = number(times == std::string::npos ? part : part.substr(times + 1), most_keys);
        if (static_cast<Index>(all.size()) + n > most_documents)
            throw UsageError(message("mask_flags.too_many_documents", text::shown(text)));
        all.insert(all.end(), static_cast<std::size_t>(n), keys);
        at = end + 1;
    }
    return all;
}

std::pair<Index, Index> to_mask_block(const std::string& text) {
    const Whole allowed{1, most_keys, 128};
    const std::size_t times = text.find('x');
    if (times == std::string::npos) {
        const Index size = to_index("--mask-block", text, allowed);
        return {size, size};
    }
    return {to_index("--mask-block", text.substr(0, times), allowed),
            to_index("--mask-block", text.substr(times + 1), allowed)};
}

Mask mask_from(const Options& o, const Problem& p) {
    const bool causal = o.causal.value_or(false);
    if (causal && o.window_right && *o.window_right > 0)
        throw UsageError(message("mask_flags.window_of_causal", std::to_string(*o.window_right)));
    Mask m = Mask::window(o.window_left, causal ? std::optional<Index>(0) : o.window_right);
    if (!o.documents.empty()) m = m.with(Documents(to_documents(o.documents)));
    if (o.block_mask.empty() && !o.mask_block.empty())
        throw UsageError(message("mask_flags.block_without_mask", text::shown(o.mask_block)));
    if (!o.block_mask.empty()) {
        const auto [rows, cols] = to_mask_block(o.mask_block.empty() ? "128" : o.mask_block);
        m = m.with(block_mask(o.block_mask, p, rows, cols));
    }
    return m;
}

void hide_rows(const Options& o, Problem& p) {
    const HiddenRows rule = to_named("--hidden-rows", o.hidden_rows, std::span<const HiddenRows>(hidden_row_rules));
    if (rule != HiddenRows::zero && !p.mask.hides())
        throw UsageError(message("mask_flags.hidden_rows_without_mask", o.hidden_rows));
    p.mask = p.mask.with(rule, p.queries(), p.seq_k, p.diagonal());
}

void set_mask(Options& o, const Mask& m) {
    if (m.right() == Index{0})
        o.causal = true;
    else
        o.window_right = m.right();
    o.window_left = m.left();
    o.hidden_rows = name_of(m.hidden_rows());
    if (const Documents* d = m.documents()) {
        std::vector<std::string> lengths;
        for (const Index n : d->lengths()) lengths.push_back(std::to_string(n));
        o.documents = text::join(lengths, "+");
    }
    if (const BlockMask* b = m.blocks()) {
        o.block_mask = b->name;
        o.mask_block = std::to_string(b->block_rows) + 'x' + std::to_string(b->block_cols);
    }
}

}  // namespace tilescope::lab
