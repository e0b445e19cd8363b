#include "show/state/score_choices.hpp"

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::show {
using lab::Options;
using text::message;
namespace {

constexpr ScoreChoice choices_of_scores[] = {
    {"plain", "score_choices.plain", "score_choices.about_plain", {}},
    {"key-bias", "score_choices.key_bias", "score_choices.about_key_bias", Feature::bias, "bk"},
    {"pair-bias", "score_choices.pair_bias", "score_choices.about_pair_bias", Feature::bias, "hqk"},
    {"two-biases", "score_choices.two_biases", "score_choices.about_two_biases", Feature::bias, "bk+ghqk"},
    {"alibi", "score_choices.alibi", "score_choices.about_alibi", Feature::alibi, "none", true},
    {"soft-cap", "score_choices.soft_cap_50", "score_choices.about_soft_cap", Feature::soft_cap, "none", {}, 50.0},
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
    if (o.bias != "none") parts.push_back(message("score_choices.bias", o.bias));
    if (o.alibi.value_or(false)) parts.push_back(message("score_choices.alibi"));
    if (o.soft_cap) parts.push_back(message("score_choices.soft_cap", text::number(*o.soft_cap)));
    return parts.empty() ? message(score_choices()[0].shown) : text::join(parts, ", ");
}

}  // namespace tilescope::show
