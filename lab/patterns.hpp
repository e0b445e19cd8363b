// Inputs that show something: logits with a pattern, at the default scale 1/sqrt(dim), whatever the sizes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "algorithms/contract/computation.hpp"
#include "lab/inputs.hpp"

namespace tilescope::lab {

/// What an input has at a position in C order.
using Element = std::function<float(Index)>;

/// How one of the patterns fills `input`, one of `all` inputs of a computation; an empty function for what is random.
/// Every slice has the same pattern.
Element element_of(Distribution pattern, const TensorDecl& input, const std::vector<TensorDecl>& all,
                   std::uint64_t seed);

/// BadValue where rows of Q and K are too short for the pattern.
void check_pattern(Distribution pattern, Index dim);

/// The word at a position of the sentence that `sentence` is about; it begins again after its last word.
std::string sentence_word(Index position);
/// The place, in the sentence, of the word that it looks at.
Index word_looked_at(Index word);
/// Words in the sentence.
Index sentence_length();

/// Keys to either side of a query's own that `band` gives most of the weight to.
Index band_reach(Index keys);

}  // namespace tilescope::lab
