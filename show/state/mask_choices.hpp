// Masks to choose from in a list, besides causality, in sizes that make a visible difference to a problem.
#pragma once

#include <string>
#include <vector>

#include "algorithms/contract/problem.hpp"
#include "lab/flags/options.hpp"

namespace tilescope::show {

struct MaskChoice {
    std::string name;   ///< of the item: "window"
    std::string shown;  ///< "window of 128"
    std::string about;  ///< a sentence
    std::optional<Index> left, right;
    std::string documents, block_mask, mask_block;

    /// Sets this mask and no other in `options`; causality stays what it is.
    void set(lab::Options& options) const;
};

/// The masks for a problem of these sizes; the first one hides nothing.
std::vector<MaskChoice> mask_choices(const Problem& sizes, bool causal);
/// What the options ask for, in a word or two: "all keys", "window of 128", "4 documents, butterfly".
std::string mask_shown(const lab::Options& options);

}  // namespace tilescope::show
