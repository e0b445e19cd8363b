#include "show/state/score_choices.hpp"

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::show {
using lab::Options;
namespace {

constexpr ScoreChoice choices_of_scores[] = {
    {"plain", "as they are", "S = scale Q K^T, and nothing added.", {}},
    {"key-bias", "bias per key", "A number for each key of a batch entry, added to all of its scores.", Feature::bias,
     "bk"},
    {"pair-bias", "bias per pair", "A matrix for each head, added to the scores: its tiles come from HBM.",
     Feature::bias, "hqk"},
    {"two-biases", "Evoformer's two", "One per key, and one per pair that batch entries share.", Feature::bias,
     "bk+ghqk"},
    {"alibi", "ALiBi", "The distance of query and key, times a slope of the head, subtracted: no tensor.",
     Feature::alibi, "none", true},
    {"soft-cap", "soft-cap 50", "50 tanh(S / 50) in place of S.", Feature::soft_cap, "none", {}, 50.0},
};

}  // namespace

void ScoreChoice::set(Options& o) const {
    const Options none;
    o.bias = bias, o.bias_group = none.bias_group, o.bias_file = none.bias_file, o.bias2_file = none.bias2_file;
    o.alibi = alibi, o.soft_cap = soft_cap;
}

std::span<const ScoreChoice> score_choices() { return choices_of_scores; }

std::string scores_shown(const Options& o) {
    std::vector<std::string> parts;
    if (o.bias != "none") parts.push_back("bias " + o.bias);
    if (o.alibi.value_or(false)) parts.push_back("ALiBi");
    if (o.soft_cap) parts.push_back("soft-cap " + text::number(*o.soft_cap));
    return parts.empty() ? score_choices()[0].shown : text::join(parts, ", ");
}

}  // namespace tilescope::show
