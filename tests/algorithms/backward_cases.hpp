// The cases that tests of the backward passes run, and words for their counts.
#pragma once

#include "tests/support/problems.hpp"
#include "tests/support/seeds.hpp"

namespace tilescope {

/// All corner cases, and random masks and windows.
inline std::vector<Case> varied_cases(std::uint64_t random) {
    std::vector<Case> all = corner_cases();
    for (std::uint64_t seed = 1; seed <= seeds(random); ++seed) {
        all.push_back(seed % 3 == 0 ? window_case(seed) : seed % 3 == 1 ? pattern_case(seed) : random_case(seed));
        // A window that holds no key for any query is replaced.
        Mask& mask = all.back().problem.mask;
        if (mask.left() && mask.right() && *mask.left() + *mask.right() < 0) mask = Mask::causal();
    }
    return all;
}

inline Case in_f32(const Algorithm& a, Case c) {
    c = as_supported(a, c);
    c.problem.dtype = Dtype::f32;
    return c;
}

inline std::string numbers_of(const Prediction& p) {
    return "read " + std::to_string(p.hbm_read) + ", written " + std::to_string(p.hbm_write) + ", reduced " +
           std::to_string(p.hbm_reduce) + ", matmul " + std::to_string(p.matmul_flops) + ", exps " +
           std::to_string(p.exps) + ", other " + std::to_string(p.other_flops);
}

inline std::string counted_numbers(const Outcome& o) {
    const Counters& c = o.counters;
    return numbers_of({c.hbm_read, c.hbm_write, c.matmul_flops, c.exps, c.other_flops, c.hbm_reduce});
}

}  // namespace tilescope
