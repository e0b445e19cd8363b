// Block masks: published ones by name, or the user's own from a file.
#pragma once

#include <string>

#include "algorithms/contract/block_mask.hpp"
#include "algorithms/contract/problem.hpp"

namespace tilescope::lab {

/// The mask that `wanted` names, in blocks of `block_rows` queries and `block_cols` keys of the problem:
///   butterfly   block (i, j) is seen if the numbers i and j differ in at most one bit (FA-1 section 3.3 after Dao et
///               al., Pixelated Butterfly, arXiv 2112.00029)
///   band:N      N blocks on either side of the diagonal (local attention)
///   strided:N   N blocks up to the diagonal and every N-th (Child et al., arXiv 1904.10509, figure 3b)
///   global:N    the first N blocks of rows and of columns, and one on either side of the diagonal (Longformer, arXiv
///               2004.05150, figure 2d)
///   random:X    a share X of all blocks, always the same ones
///   FILE.txt    a line of 0 and 1 for each row of blocks; FILE.npy  a matrix of 0 and 1 of any type, or of booleans
/// In each row of blocks, the diagonal is in the block with the key at the position of the row's last query. Throws
/// UsageError, about --block-mask.
BlockMask block_mask(const std::string& wanted, const Problem& problem, Index block_rows, Index block_cols);

}  // namespace tilescope::lab
