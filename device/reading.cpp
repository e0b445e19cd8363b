#include "device/reading.hpp"

#include <algorithm>

namespace tilescope::device {

Reading reading_of(std::vector<double> x) {
    std::ranges::sort(x);
    return {(x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2, x.front(), x.back(), static_cast<Index>(x.size())};
}

}  // namespace tilescope::device
