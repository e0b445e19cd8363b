// What a head of a run is called: where query heads are packed, one of K and V stands for several.
#pragma once

#include <string>

#include "show/run.hpp"

namespace tilescope::show {

/// "head", or "KV head" where it packs query heads.
std::string head_word(const Problem& problem);
/// "head 2", "KV head 2"; `head` counts from 0.
std::string head_name(const Problem& problem, Index head);
/// "query heads 5 to 8": those that a head packs; empty where it packs none.
std::string packed_heads_text(const Problem& problem, Index head);
/// "query head 6": whose row it is of one that packs several.
std::string packed_head_name(const Problem& problem, Index head, Index row);
/// The slice of a tensor that a head of a recorded problem has. Of a bias that batch entries share, and of its
/// gradient, it begins again with every entry.
Index slice_of(const Problem& recorded, const RecordedTensor& tensor, Index head);

}  // namespace tilescope::show
