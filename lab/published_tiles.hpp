// The tiles of kernels that people run, each with its source.
#pragma once

#include <algorithm>
#include <string>

#include "algorithms/contract/algorithm.hpp"

namespace tilescope::lab {

struct PublishedTiles {
    Tiling tiling;
    /// "as in FlashAttention-2's released kernel (flash_fwd_launch_template.h)"; or, where that has no kernel for such
    /// a problem or GPU, what is taken instead: "by FlashAttention-2's rule for d = 256, carried on".
    std::string source;
    /// Where there is none: "FlashAttention-2's rule for d = 256, carried on"; else empty.
    std::string carried_on = "";
};

/// What the released kernel of the algorithm uses for this GPU, head dimension, type and mask. Algorithms without one
/// of their own have FlashAttention-2's, so that they can be compared; f32 and the softmax of a matrix have those of
/// the kernels here. Not yet cut to the problem.
PublishedTiles published_tiles(const Algorithm& algorithm, const Problem& problem, const GpuSpec& gpu);

/// No larger than the problem.
inline Tiling cut_to(const Problem& p, Tiling t) { return {std::min(t.br, p.seq_q), std::min(t.bc, p.seq_k)}; }

/// FlashAttention-2's, whatever the algorithm: what `compare` puts all of them on.
PublishedTiles common_tiles(const Computation& computation, const Problem& problem, const GpuSpec& gpu);

/// Of FlashAttention-1 and -2, forward and backward: "FlashAttention-1's released backward kernel"; or, where that is
/// not for such a problem or GPU, "A kernel by FlashAttention-1's rule for d = 128".
std::string published_kernel(const Algorithm& algorithm, const Problem& problem, const GpuSpec& gpu);

}  // namespace tilescope::lab
