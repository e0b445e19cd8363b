// K and V in pages: the table, and the pool that the user's tensors are put into.
#pragma once

#include "algorithms/contract/computation.hpp"
#include "core/machine/tensor_info.hpp"

namespace tilescope::lab {

/// Makes of a tensor that is to be declared one in pages, if it is one, or the table that finds them. `declared` is all
/// of the problem's, `first` the number of the first of them. With data, K and V have theirs already.
void put_in_pages(TensorInfo& info, const TensorDecl& of, const std::vector<TensorDecl>& declared, TensorId first,
                  const Problem& problem, bool with_data);

/// Rows of the pool, over all heads of K or V.
Index rows_in_pool(const Problem& problem);

/// The keys of the pages that all sequences have; none without such.
Span shared_keys(const Problem& problem);

/// What sequences share has one value: that of the first. Of tensors that have others there, copies.
Inputs with_shared_prefix(Inputs inputs, const Problem& problem);
/// The first of K and V whose sequences do not begin with the same shared pages; empty: they do.
std::string unlike_prefix(const Inputs& inputs, const Problem& problem);

/// "K and V in 512 pages of 16 keys, in order": what is not as the problem's sizes say; empty without pages.
std::string about_pages(const Problem& problem);
/// What pages cost a kernel and no modelled time has, in a sentence; empty without pages.
std::string untimed_pages(const Problem& problem);

}  // namespace tilescope::lab
