// K and V in pages: the table, and the pool that the user's tensors are put into.
#pragma once

#include "algorithms/contract/computation.hpp"
#include "core/machine/tensor_info.hpp"

namespace tilescope::lab {

/// Gives K and V (`of` declares the tensor) their pages, or the page table its entries, before they are added to the
/// GPU. `declared`: all tensors of the problem; `first`: the id of the first. With data, K and V have values already.
void put_in_pages(TensorInfo& info, const TensorDecl& of, const std::vector<TensorDecl>& declared, TensorId first,
                  const Problem& problem, bool with_data);

/// Rows of the pool, over all heads of K or V.
Index rows_in_pool(const Problem& problem);

/// The keys in the pages that all sequences share; empty where none are shared.
Span shared_keys(const Problem& problem);

/// Gives all sequences the first one's values in the shared pages. Copies tensors that have other values there.
Inputs with_shared_prefix(Inputs inputs, const Problem& problem);
/// "K" or "V": the first of them whose sequences have different values in the shared pages; empty where neither has.
std::string unlike_prefix(const Inputs& inputs, const Problem& problem);

/// "K and V in 512 pages of 16 keys, in order": what the problem's sizes do not say; empty without pages.
std::string about_pages(const Problem& problem);
/// A sentence about the cost of pages that the modelled time leaves out; empty without pages.
std::string untimed_pages(const Problem& problem);

}  // namespace tilescope::lab
