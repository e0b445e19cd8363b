// What a kernel looks up beside its tensors: which key tiles a row block visits, and what belongs to queries and heads.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/contract/problem.hpp"

namespace tilescope {

/// Whether anything but a mask is done to scores: biases, ALiBi, soft-cap, dropout.
bool scores_are_changed(const Problem& p);
/// Whether the scores are those of the product, of all keys or of those up to the diagonal: kernels need no tables.
bool scores_are_plain(const Problem& p);

/// Of a problem whose heads are not packed. Empty where the problem has no such thing.
struct KernelTables {
    /// Row block i visits visits[first[3 i]] to visits[first[3 i + 2] - 1]; from first[3 i + 1] on not every row sees
    /// every key of the tile.
    std::vector<std::int32_t> first, visits;
    /// Where the document of each query begins and ends among the keys, two numbers each.
    std::vector<std::int32_t> documents;
    /// Of a block mask: 1 for what is seen, row by row.
    std::vector<std::int8_t> blocks;
    /// The slice of each bias that a head reads.
    std::vector<std::int32_t> bias_slices[2];
    /// ALiBi's of each head.
    std::vector<float> slopes;
};
KernelTables tables_of(const Problem& problem, const Tiling& tile);

/// The same in device memory; nullptr for what is empty.
struct DeviceTables {
    const std::int32_t *first = nullptr, *visits = nullptr, *documents = nullptr;
    const std::int8_t* blocks = nullptr;
    const std::int32_t* bias_slices[2] = {};
    const float* slopes = nullptr;
};

}  // namespace tilescope
