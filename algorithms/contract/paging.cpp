#include "algorithms/contract/paging.hpp"

#include <numeric>

#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/page_pool.hpp"

namespace tilescope {
namespace {

/// A stride of about 0.618 n, coprime with n: its multiples modulo n are all n numbers, neighbours far apart.
Index stride_through(Index n) {
    Index stride = n * 618 / 1000 + 1;
    while (std::gcd(stride, n) != 1) ++stride;
    return stride;
}

}  // namespace

const char* name_of(PageOrder order) { return order == PageOrder::identity ? "identity" : "permuted"; }

PagePool::PagePool(const Paging& paging, Index batch, Index keys)
    : paging_(paging),
      batch_(batch),
      keys_(keys),
      of_a_sequence_(ceil_div(keys, paging.size)),
      shared_(batch > 1 ? paging.shared / paging.size : 0),
      stride_(paging.order == PageOrder::permuted ? stride_through(pages()) : 1) {}

Index PagePool::entry(Index sequence, Index n) const {
    const Index in_order = n < shared_ ? n : n + sequence * (of_a_sequence_ - shared_);
    return in_order * stride_ % pages();
}

Index PagePool::free_slots() const {
    const Index last = of_a_sequence_ * paging_.size - keys_;
    return (of_a_sequence_ > shared_ ? batch_ : 1) * last;
}

}  // namespace tilescope
