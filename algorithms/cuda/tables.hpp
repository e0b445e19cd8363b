// What a kernel looks up beside its tensors: which key tiles a row block visits, and what each query and head has.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/contract/problem.hpp"

namespace tilescope {

/// Whether anything but a mask changes scores: biases, ALiBi, soft-cap, dropout.
bool scores_are_changed(const Problem& p);
/// Whether there is no mask but the causal one, and nothing else changes scores: then kernels need no tables.
bool scores_are_plain(const Problem& p);

/// For a problem whose heads are not packed. A table is empty where the problem has no use for it.
struct KernelTables {
    /// Row block i visits key tiles visits[k] for first[3 i] <= k < first[3 i + 2]. From k = first[3 i + 1] on, tiles
    /// are ragged, or not every row sees every key.
    std::vector<std::int32_t> first, visits;
    /// Two numbers for each query: the first key of its document, and the key after the last.
    std::vector<std::int32_t> documents;
    /// The block mask, row by row: 1 for a block that is seen.
    std::vector<std::int8_t> blocks;
    /// Of each bias: the slice that each head reads.
    std::vector<std::int32_t> bias_slices[2];
    /// ALiBi's slope of each head.
    std::vector<float> slopes;
};
KernelTables tables_of(const Problem& problem, const Tiling& tile);

/// KernelTables in device memory; nullptr for an empty table.
struct DeviceTables {
    const std::int32_t *first = nullptr, *visits = nullptr, *documents = nullptr;
    const std::int8_t* blocks = nullptr;
    const std::int32_t* bias_slices[2] = {};
    const float* slopes = nullptr;
};

}  // namespace tilescope
