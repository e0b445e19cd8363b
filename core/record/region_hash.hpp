#pragma once

#include "core/machine/tensor.hpp"

namespace tilescope {

/// A hash for tables whose keys are regions.
struct RegionHash {
    std::size_t operator()(const Region& r) const {
        std::uint64_t h = r.tensor;
        for (const Index x : {r.slice, r.rows.begin, r.rows.size, r.cols.begin, r.cols.size})
            h = h * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(x);
        return static_cast<std::size_t>(h ^ (h >> 29));
    }
};

}  // namespace tilescope
