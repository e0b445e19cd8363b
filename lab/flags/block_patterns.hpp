// Block masks by name or from a file: the sparsity that people have published, or their own.
#pragma once

#include <string>

#include "algorithms/contract/block_mask.hpp"
#include "algorithms/contract/problem.hpp"

namespace tilescope::lab {

/// The mask that `wanted` names for a problem's queries and keys, in blocks of so many queries and keys:
///   butterfly   a block sees its own number and those that differ from it in one bit (FA-1 section 3.3 after Dao et
///               al., Pixelated Butterfly, arXiv 2112.00029)
///   band:N      N blocks on either side of the diagonal (local attention)
///   strided:N   N blocks up to the diagonal and every N-th (Child et al., arXiv 1904.10509, figure 3b)
///   global:N    the first N blocks of rows and of columns, and one on either side of the diagonal (Longformer, arXiv
///               2004.05150, figure 2d)
///   random:X    a share X of all blocks, always the same ones
///   FILE.txt    lines of 0 and 1, one a row of blocks; FILE.npy  a matrix of them, of whatever type, or of booleans
/// In each row of blocks, the diagonal is in the block with the last query's own key, as everywhere here. Throws
/// UsageError for `--block-mask`.
BlockMask block_mask(const std::string& wanted, const Problem& problem, Index block_rows, Index block_cols);

}  // namespace tilescope::lab
