// What can be done to the scores besides the mask, to choose from in a list.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "algorithms/contract/algorithm.hpp"
#include "lab/flags/options.hpp"

namespace tilescope::show {

struct ScoreChoice {
    const char* name;                ///< of the item: "pair-bias"
    const char* shown;               ///< id of a message: "bias per pair"
    const char* about;               ///< id of a message
    std::optional<Feature> feature;  ///< what an algorithm has to support for this
    const char* bias = "none";
    std::optional<bool> alibi = {};
    std::optional<double> soft_cap = {};

    /// Sets in `options` that this is done to the scores, and nothing else; dropout stays what it is.
    void set(lab::Options& options) const;
    bool is_of(const Algorithm& algorithm) const { return !feature || algorithm.supports.has(*feature); }
};

/// The first one does nothing.
std::span<const ScoreChoice> score_choices();
/// What the options ask for, in a word or two: "as they are", "bias hqk, soft-cap 50".
std::string scores_shown(const lab::Options& options);

}  // namespace tilescope::show
