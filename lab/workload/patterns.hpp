// Inputs that show something: logits with a pattern, at the default scale 1/sqrt(dim), whatever the sizes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "algorithms/contract/computation.hpp"
#include "lab/workload/inputs.hpp"

namespace tilescope::lab {

/// The value of an input's element, by its position in C order.
using Element = std::function<float(Index)>;

/// The elements that a pattern gives to `input`, one of `all` inputs of a computation; an empty function for a random
/// distribution. Every slice has the same pattern.
Element element_of(Distribution pattern, const TensorDecl& input, const std::vector<TensorDecl>& all,
                   std::uint64_t seed);

/// BadValue where rows of Q and K are too short for the pattern.
void check_pattern(Distribution pattern, Index dim);

/// The word at a position of the pattern `sentence`. After its last word the sentence begins again.
std::string sentence_word(Index position);
/// The position, in the sentence, of the word that word number `word` attends to.
Index word_looked_at(Index word);
/// Words in the sentence.
Index sentence_length();

/// `band` gives most of the weight to so many keys on either side of a query's own.
Index band_reach(Index keys);

}  // namespace tilescope::lab
