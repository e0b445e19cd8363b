// Times of PyTorch's implementations of attention: docs/measured/*/backends.csv, which scripts/backends writes.
#pragma once

#include "device/measurements.hpp"

namespace tilescope::device {

/// The algorithm that models a backend, and the messages that say what the backend does differently.
struct Like {
    const char* algorithm = nullptr;  ///< nullptr: none models it
    const char* apart = "";
    const char* passes = nullptr;  ///< a list of passes that is nearer; what the backend does differently
    const char* apart_from_passes = "";
    const char* named = nullptr;  ///< the algorithm models it only with this --like
    const char* without = "";     ///< what it does, where no row models it
};

/// One of PyTorch's implementations of attention.
struct Backend {
    const char* key;   ///< in the file: "cudnn"
    const char* name;  ///< the message of its name, "cuDNN"
    Like like;         ///< for several queries
    Like one_query;
    Like split;  ///< for several queries, where FlashAttention-2's rule cuts the keys into parts, as for few heads
};

struct BackendTime {
    const Backend* backend;
    double us;  ///< of the kernels, without what a call costs on the host
};

/// The measured times of all backends for one problem.
struct BackendTimes {
    std::string device, library, date;
    Problem problem;                  ///< as it was measured
    const Backend* chosen = nullptr;  ///< the one that PyTorch chooses by itself
    std::vector<BackendTime> times;   ///< fastest first
    bool splits_keys = false;         ///< whether FlashAttention-2's rule cuts the keys into parts

    const Like& like(const Backend& b) const {
        return problem.seq_q == 1 ? b.one_query : splits_keys ? b.split : b.like;
    }
};

/// The times of this problem on the GPU of that preset; else of the nearest problem with the same head dimension and
/// mask, likewise one query or several, a quarter to 4 times the queries and keys, and 1/16 to 16 times the work.
/// nullopt where none is so near.
std::optional<BackendTimes> backend_times(const Problem& problem, std::string_view gpu);

/// Whether both ask for the same work of a kernel: batch entries and heads alike.
bool same_shape(const Problem& a, const Problem& b);
/// FLOPs of the products that `a` asks for, over those of `b`; both with the same mask.
double work_ratio(const Problem& a, const Problem& b);

/// The presets of the GPUs that were measured, and the head dimensions that were measured on one of them.
std::vector<std::string> measured_gpus();
std::vector<Index> measured_dims(std::string_view gpu);

}  // namespace tilescope::device
