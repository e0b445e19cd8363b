// The tiles of kernels that people run, each with its source.
#pragma once

#include <algorithm>
#include <string>

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/kernel_description.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

struct PublishedTiles {
    Tiling tiling;
    /// "as in FlashAttention-2's released kernel (flash_fwd_launch_template.h)"; or, where no kernel was
    /// released for such a problem or GPU, what is taken instead: "by FlashAttention-2's rule for d = 256, carried on".
    std::string source;
    std::string whose;  ///< "FlashAttention-2's", "TileScope's"
    /// Where there is no such kernel: "FlashAttention-2's rule for d = 256, carried on"; else empty.
    std::string carried_on = "";

    /// A short name, to tell the tiles from others: "FlashAttention-2's", "FlashAttention-2's rule, carried on".
    std::string name() const;
};

/// The tiles of the algorithm's released kernel for this GPU, head dimension, type and mask, not yet cut to the
/// problem. Algorithms without such a kernel have the usual kernel's tiles, so that they can be compared; f32, and
/// computations without a usual kernel, have the tiles of TileScope's own kernels. `shared`: all have the usual one's
/// tiles, as in `compare`, except kernels of tiled products: other tiles would make other warps, and another kernel.
PublishedTiles published_tiles(const Algorithm& algorithm, const Problem& problem, const GpuSpec& gpu,
                               bool shared = false);
/// The tiling alone: whoever only counts or times needs no words.
Tiling published_tiling(const Algorithm& algorithm, const Problem& problem, const GpuSpec& gpu, bool shared = false);

/// The same of the kernel of a library that the experiment names, where it names one.
PublishedTiles tiles_behind(const Experiment& experiment);
/// "FlashAttention-3's tiles", "tiles as in cudnn-9.19"; where the experiment has others, "not" these.
std::string whose_tiles(const Experiment& experiment);

/// The tiling, no larger than the problem.
inline Tiling cut_to(const Problem& p, Tiling t) { return {std::min(t.br, p.seq_q), std::min(t.bc, p.seq_k)}; }

/// "FlashAttention-1's released backward kernel"; or, where there is none for such a problem or GPU, "A kernel by
/// FlashAttention-1's rule for d = 128".
std::string published_kernel(const ReleasedKernel& kernel, const Problem& problem, const GpuSpec& gpu);

/// The algorithm whose kernel is usual; nullptr where the computation has none.
const Algorithm* usual_of(const Computation& computation);

}  // namespace tilescope::lab
