#include "algorithms/contract/bias.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace tilescope {
namespace {

/// "ghqk": the letters of a term. Each stands at most once, in this order; k always stands.
std::optional<BiasTerm> term_from(std::string_view axes) {
    BiasTerm t;
    const auto take = [&](char letter) {
        if (axes.empty() || axes[0] != letter) return false;
        axes.remove_prefix(1);
        return true;
    };
    if (take('b'))
        t.batch = BiasTerm::Batch::by_entry;
    else if (take('g'))
        t.batch = BiasTerm::Batch::by_group;
    t.by_head = take('h');
    t.by_query = take('q');
    return take('k') && axes.empty() ? std::optional(t) : std::nullopt;
}

}  // namespace

std::string BiasTerm::axes() const {
    const char* entries = batch == Batch::by_entry ? "b" : batch == Batch::by_group ? "g" : "";
    return std::string(entries) + (by_head ? "h" : "") + (by_query ? "q" : "") + 'k';
}

bool Bias::has_groups() const {
    return std::any_of(terms.begin(), terms.end(),
                       [](const BiasTerm& t) { return t.batch == BiasTerm::Batch::by_group; });
}

bool Bias::by_head_or_query() const {
    return std::any_of(terms.begin(), terms.end(), [](const BiasTerm& t) { return t.by_head || t.by_query; });
}

Index Bias::slice_of(const BiasTerm& term, Index head, Index heads) const {
    const Index entry = head / heads, slices = term.by_head ? heads : 1, slice = term.by_head ? head % heads : 0;
    if (term.batch == BiasTerm::Batch::shared) return slice;
    return (term.batch == BiasTerm::Batch::by_group ? entry / group : entry) * slices + slice;
}

std::string Bias::name() const {
    std::string all;
    for (const BiasTerm& t : terms) all += (all.empty() ? "" : "+") + t.axes();
    return all;
}

std::optional<std::vector<BiasTerm>> Bias::terms_from(std::string_view name) {
    std::vector<BiasTerm> terms;
    for (;;) {
        const std::size_t plus = name.find('+');
        const auto term = term_from(name.substr(0, plus));
        if (!term || terms.size() == std::size(bias_tensors)) return std::nullopt;
        terms.push_back(*term);
        if (plus == std::string_view::npos) return terms;
        name.remove_prefix(plus + 1);
    }
}

float alibi_slope(Index head, Index heads) {
    const auto power = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
    const auto slope = [](Index h, Index n) {
        return static_cast<float>(std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(n)));
    };
    return head < power ? slope(head, power) : slope(2 * (head - power), 2 * power);
}

int Dropout::threshold() const { return static_cast<int>(std::floor(255 * (1 - p))); }
float Dropout::factor() const { return static_cast<float>(1 / (1 - p)); }

}  // namespace tilescope
