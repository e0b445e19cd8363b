// The names of a run's heads: where query heads are packed, one head of K and V stands for several.
#pragma once

#include <string>

#include "show/run/run.hpp"

namespace tilescope::show {

/// "head", or "KV head" where query heads are packed.
std::string head_word(const Problem& problem);
/// "head 2", "KV head 2"; `head` counts from 0.
std::string head_name(const Problem& problem, Index head);
/// "query heads 5 to 8": the query heads that a head packs; empty where it packs none.
std::string packed_heads_text(const Problem& problem, Index head);
/// "query head 6": the query head that owns a row, in a head that packs several.
std::string packed_head_name(const Problem& problem, Index head, Index row);
/// The slice of a tensor that belongs to a head of a recorded problem. For a bias that batch entries share, and for its
/// gradient, slices start again at the first with every entry.
Index slice_of(const Problem& recorded, const RecordedTensor& tensor, Index head);

}  // namespace tilescope::show
