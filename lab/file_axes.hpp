// The axes that a tensor has in a NumPy file: [batch, heads, rows, columns].
#pragma once

#include "algorithms/contract/computation.hpp"

namespace tilescope::lab {

/// The first of them; the heads are slices / batch. It is 1 for what all batch entries share, and the number of groups
/// for what groups of entries do.
inline Index batch_in_file(const Problem& p, const TensorDecl& t) {
    if (t.sliced != Sliced::whole) return p.batch;
    return t.round > 0 ? p.batch_heads() / t.round : 1;
}

}  // namespace tilescope::lab
