// Experiments that tests of times share.
#pragma once

#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"

namespace tilescope::lab {

inline Experiment experiment(const char* algorithm, Index heads, Index seq, Dtype dtype = Dtype::f16,
                             Tiling tiling = {128, 128}) {
    Problem p;
    p.heads = p.kv_heads = heads, p.seq_q = p.seq_k = seq, p.dtype = dtype;
    return {find_algorithm(algorithm), p, tiling, gpu_preset("H200")};
}

}  // namespace tilescope::lab
