// K and V in pages: the page table, and the pool of pages that holds the user's tensors.
#pragma once

#include "algorithms/contract/computation.hpp"
#include "core/machine/tensor_info.hpp"

namespace tilescope::lab {

/// Completes a tensor that `of` declares, before it is added to the GPU: K and V get their pages, the page table its
/// entries. `declared`: all tensors of the problem; `first`: the id of the first of them. `with_data`: whether tensors
/// have values.
void put_in_pages(TensorInfo& info, const TensorDecl& of, const std::vector<TensorDecl>& declared, TensorId first,
                  const Problem& problem, bool with_data);

/// Rows of the pool, over all heads of K or V.
Index rows_in_pool(const Problem& problem);

/// The keys in the pages that all sequences share; empty where none are shared.
Span shared_keys(const Problem& problem);

/// Gives all sequences the first sequence's values in the shared pages. Copies tensors that have other values there.
Inputs with_shared_prefix(Inputs inputs, const Problem& problem);
/// "K" or "V": the first tensor whose sequences differ in the shared pages; empty where neither tensor's do.
std::string unlike_prefix(const Inputs& inputs, const Problem& problem);

/// "K and V in 512 pages of 16 keys, in order": what the problem's sizes do not say; empty without pages.
std::string about_pages(const Problem& problem);
/// A sentence about the cost of pages that the modelled time leaves out; empty without pages.
std::string untimed_pages(const Problem& problem);

}  // namespace tilescope::lab
