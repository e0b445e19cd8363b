#include "algorithms/contract/block_mask.hpp"

#include <algorithm>

namespace tilescope {

Documents::Documents(const std::vector<Index>& lengths) {
    Index end = 0;
    for (const Index n : lengths) ends_.push_back(end += n);
}

std::vector<Index> Documents::lengths() const {
    std::vector<Index> all;
    Index begin = 0;
    for (const Index end : ends_) all.push_back(end - begin), begin = end;
    return all;
}

Span Documents::around(Span positions) const {
    const Index first = at(positions.begin), last = at(positions.end() - 1);
    if (last < 0) return {};
    const Index begin = end_of(first - 1), end = last + 1 < count() ? end_of(last) : endless;
    return {begin, end - begin};
}

Index Documents::at(Index position) const {
    if (position < 0) return -1;
    const auto after = std::upper_bound(ends_.begin(), ends_.end(), position);
    return std::min<Index>(after - ends_.begin(), count() - 1);
}

}  // namespace tilescope
