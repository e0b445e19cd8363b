// Sorting that leaves equals in their order. All types share one copy of the algorithm: the page is sent before it
// runs.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace tilescope {

/// The numbers below n in the order of `before`.
std::vector<std::size_t> stable_order(std::size_t n, const std::function<bool(std::size_t, std::size_t)>& before);

/// std::stable_sort of a whole vector.
template <class T, class Before>
void sort_stably(std::vector<T>& all, const Before& before) {
    std::vector<T> sorted;
    sorted.reserve(all.size());
    for (const std::size_t k :
         stable_order(all.size(), [&](std::size_t a, std::size_t b) { return before(all[a], all[b]); }))
        sorted.push_back(std::move(all[k]));
    all.swap(sorted);
}

}  // namespace tilescope
