// The axes that a tensor has in a NumPy file: [batch, heads, rows, columns].
#pragma once

#include "algorithms/contract/computation.hpp"

namespace tilescope::lab {

/// The length of the batch axis; that of the heads axis is slices / length. The length is 1 for a tensor that all batch
/// entries share, and the number of groups for a tensor that groups of batch entries share.
inline Index batch_in_file(const Problem& p, const TensorDecl& t) {
    if (t.sliced != Sliced::whole) return p.batch;
    return t.round > 0 ? p.batch_heads() / t.round : 1;
}

}  // namespace tilescope::lab
