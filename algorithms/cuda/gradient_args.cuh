// What kernels of backward passes are given.
#pragma once

#include "algorithms/cuda/device.cuh"

namespace tilescope::cuda {

/// Tensors that all of them have.
template <class T>
struct GradientArgs {
    Global<const T> Q, K, V, dO;
    Global<float> dQ;  ///< where it is added up
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

/// And what those have that form P from the LSE, and D once.
template <class T>
struct BackwardArgs : GradientArgs<T> {
    Global<const float> LSE, D;

    explicit BackwardArgs(const KernelCall& call, const char* sums = "dQ")
        : GradientArgs<T>(call, sums), LSE(call.tensors["LSE"]), D(call.tensors["D"]) {}
};

}  // namespace tilescope::cuda
