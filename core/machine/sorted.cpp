#include "core/machine/sorted.hpp"

#include <algorithm>
#include <numeric>

namespace tilescope {

std::vector<std::size_t> stable_order(std::size_t n, const std::function<bool(std::size_t, std::size_t)>& before) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), before);
    return order;
}

}  // namespace tilescope
