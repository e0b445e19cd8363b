// The flags that say which keys a query sees, and the mask that they make.
#pragma once

#include "algorithms/contract/problem.hpp"
#include "lab/flags/options.hpp"

namespace tilescope::lab {

/// The mask of a problem whose sizes are known. Reads the file of --block-mask. Throws UsageError.
Mask mask_from(const Options& options, const Problem& sizes);
/// Gives the mask of a valid problem the rule of --hidden-rows. Throws UsageError.
void hide_rows(const Options& options, Problem& problem);
/// Sets the flags that make this mask.
void set_mask(Options& options, const Mask& mask);

/// "300+200+524", or "4x256" for four times 256: the number of keys of each document.
std::vector<Index> to_documents(const std::string& text);
/// "128", or "64x256": rows and columns of a block.
std::pair<Index, Index> to_mask_block(const std::string& text);

}  // namespace tilescope::lab
