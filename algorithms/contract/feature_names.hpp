// All features, and what people call them.
#pragma once

#include <string>

#include "algorithms/contract/features.hpp"

namespace tilescope {

inline constexpr Feature all_features[] = {
    Feature::head_dims,   Feature::grouped_heads, Feature::scale,       Feature::mask,   Feature::naive_softmax,
    Feature::pages,       Feature::block_mask,    Feature::documents,   Feature::bias,   Feature::alibi,
    Feature::soft_cap,    Feature::dropout,       Feature::score_types, Feature::passes, Feature::eight_bits,
    Feature::accumulator, Feature::hidden_rows,   Feature::weight_range};

/// Its name in programs: "mask", "naive_softmax".
const char* key_of(Feature feature);
/// Its name in a sentence: "a mask", "the naive softmax".
std::string name_of(Feature feature);
/// Its name at the head of a column, in a word or two: "mask".
std::string word_for(Feature feature);

}  // namespace tilescope
