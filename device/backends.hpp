// What PyTorch took for attention, one way beside the other: docs/measured/*/backends.csv, which scripts/backends
// writes.
#pragma once

#include "device/measurements.hpp"

namespace tilescope::device {

/// The algorithm that models a backend, and what the backend does otherwise.
struct Like {
    const char* algorithm = nullptr;  ///< nullptr: none models it
    const char* apart = "";
    const char* passes = nullptr;  ///< the list of passes that is nearer, and what the backend does otherwise than that
    const char* apart_from_passes = "";
};

/// One of PyTorch's ways to attention.
struct Backend {
    const char* key;   ///< in the file: "cudnn"
    const char* name;  ///< "cuDNN"
    Like like;         ///< of several queries
    Like one_query;
    Like split;  ///< of several queries where FlashAttention-2's rule cuts the keys into parts, for few heads
};

struct BackendTime {
    const Backend* backend;
    double us;  ///< of the kernels, without what a call costs on the host
};

/// All that were measured of one problem.
struct BackendTimes {
    std::string device, library, date;
    Problem problem;                  ///< as it was measured
    const Backend* chosen = nullptr;  ///< what PyTorch runs where none is asked for
    std::vector<BackendTime> times;   ///< fastest first
    bool splits_keys = false;         ///< by FlashAttention-2's rule

    const Like& like(const Backend& b) const {
        return problem.seq_q == 1 ? b.one_query : splits_keys ? b.split : b.like;
    }
};

/// Of this problem on the GPU of that preset; else of the problem nearest to it that has its head dimension, its mask
/// and, like it, one query or several, and at most four times its queries and keys, or the fourth part. nullopt where
/// there is none of at most 16 times its work, or the 16th part.
std::optional<BackendTimes> backend_times(const Problem& problem, std::string_view gpu);

/// Whether both ask for the same work of a kernel: batch entries and heads alike.
bool same_shape(const Problem& a, const Problem& b);
/// FLOPs of the products that `a` asks for, over those of `b`; of the same mask.
double work_ratio(const Problem& a, const Problem& b);

/// The presets of the GPUs that were measured, and the head dimensions.
std::vector<std::string> measured_gpus();
std::vector<Index> measured_dims(std::string_view gpu);

}  // namespace tilescope::device
