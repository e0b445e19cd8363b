// Arguments of the kernels of backward passes.
#pragma once

#include "algorithms/cuda/device.cuh"

namespace tilescope::cuda {

/// Arguments that all these kernels have.
template <class T>
struct GradientArgs {
    Global<const T> Q, K, V, dO;
    Global<float> dQ;  ///< dQ, or the f32 tensor in which it is summed
    Global<T> dK, dV;
    Workload work;
    int group;  ///< query heads that share a head of K and V

    explicit GradientArgs(const KernelCall& call, const char* sums = "dQ")
        : Q(call.tensors["Q"]),
          K(call.tensors["K"]),
          V(call.tensors["V"]),
          dO(call.tensors["dO"]),
          dQ(call.tensors[sums]),
          dK(call.tensors["dK"]),
          dV(call.tensors["dV"]),
          work(call.problem),
          group(static_cast<int>(call.problem.heads / call.problem.kv_heads)) {}
};

/// Arguments of kernels that compute P from the LSE and read D = rowsum(dO * O) from HBM.
template <class T>
struct BackwardArgs : GradientArgs<T> {
    Global<const float> LSE, D;

    explicit BackwardArgs(const KernelCall& call, const char* sums = "dQ")
        : GradientArgs<T>(call, sums), LSE(call.tensors["LSE"]), D(call.tensors["D"]) {}
};

}  // namespace tilescope::cuda
