// What the kernels of the first launch share: their arguments, the part of the work that a thread block does, and what
// a thread block without keys writes.
#pragma once

#include "algorithms/attention/split_kv/algorithm.hpp"
#include "algorithms/cuda/row_statistics.cuh"
#include "algorithms/cuda/tensor_cores.cuh"

namespace tilescope::split_kv {

/// Whether the keys are cut into several parts, which a second launch combines.
inline bool in_parts(const KernelCall& call) { return parts_of(call.tile()) > 1; }

/// The first launch's arguments. With a single part, O_s is O, and LSE_s is LSE. `Out` is the type of O_s.
template <class T, class Out = float>
struct Args {
    cuda::Global<const T> Q, K, V;
    cuda::Global<Out> O_s;
    cuda::Global<float> LSE_s;
    cuda::Workload work;
    int part;  ///< keys of a part; the last parts may have fewer

    explicit Args(const KernelCall& call)
        : Q(call.tensors["Q"]),
          K(call.tensors["K"]),
          V(call.tensors["V"]),
          O_s(call.tensors[in_parts(call) ? "O_s" : "O"]),
          LSE_s(call.tensors[in_parts(call) ? "LSE_s" : "LSE"]),
          work(call.problem),
          part(static_cast<int>(blocks_of_a_part(call.problem, call.tile()) * call.tile().bc)) {}
};

/// [1] Row blocks x parts x batch-heads: thread blocks that read the same keys are neighbours in the grid.
inline dim3 grid_of_parts(const KernelCall& call) {
    const dim3 rows_and_heads = cuda::grid_of(ceil_div(call.problem.seq_q, call.tile().br), call.problem.batch_heads());
    return dim3(rows_and_heads.x, static_cast<unsigned>(parts_of(call.tile())), rows_and_heads.y);
}

/// Stores four neighbouring numbers at once.
__device__ inline void store_four(float* to, float4 x) { cuda::store_wide(to, x); }
template <class T>
__device__ inline void store_four(T* to, float4 x) {
    __stcg(reinterpret_cast<uint2*>(to), uint2{cuda::pack<T>(x.x, x.y), cuda::pack<T>(x.z, x.w)});
}

/// [1] What a thread block works on: `rows` rows of a head from row i on, and keys `begin` to `end` of part `number`.
template <int Br, int Bc>
struct Duty {
    int head, kv, i, rows, number, begin, end;

    template <class T, class Out>
    __device__ explicit Duty(const Args<T, Out>& a)
        : head(blockIdx.z),
          kv(a.work.kv_slice(head)),
          i((gridDim.x - 1 - blockIdx.x) * Br),  // row blocks that see most keys start first
          rows(min(Br, a.work.seq_q - i)),
          number(blockIdx.y),
          begin(number * a.part),
          end(min(begin + a.part, a.work.visible_tiles(i + rows, Bc) * Bc)) {}  // [2]

    /// The thread block's first row of O_s. lse(): the LSE_s of its row r; each part has a column of LSE_s.
    template <class T, class Out>
    __device__ Out* output(const Args<T, Out>& a) const {
        return a.O_s.row(head, number * a.work.seq_q + i);
    }
    template <class T, class Out>
    __device__ float& lse(const Args<T, Out>& a, int r) const {
        return a.LSE_s.row(head, i + r)[number];
    }

    /// [3], [10] The result without keys: O_s = 0, LSE_s = -inf.
    template <int threads, int Dv, class T, class Out>
    __device__ void write_nothing(const Args<T, Out>& a) const {
        constexpr int pieces = Dv / 4;
        for (int k = threadIdx.x; k < rows * pieces; k += threads)
            store_four(output(a) + std::int64_t{k / pieces} * a.O_s.pitch + k % pieces * 4, float4{});
        for (int r = threadIdx.x; r < rows; r += threads) lse(a, r) = -cuda::infinity;
    }
};

}  // namespace tilescope::split_kv
