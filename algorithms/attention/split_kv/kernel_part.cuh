// What the kernels of the first launch share: their arguments, which part of the work is a thread block's, and what it
// writes where that is nothing.
#pragma once

#include "algorithms/attention/split_kv/algorithm.hpp"
#include "algorithms/cuda/row_statistics.cuh"

namespace tilescope::split_kv {

/// The first launch's arguments.
template <class T>
struct Args {
    cuda::Global<const T> Q, K, V;
    cuda::Global<float> O_s, LSE_s;
    cuda::Workload work;
    int part;  ///< keys of one, but for the last ones

    explicit Args(const KernelCall& call)
        : Q(call.tensors["Q"]),
          K(call.tensors["K"]),
          V(call.tensors["V"]),
          O_s(call.tensors["O_s"]),
          LSE_s(call.tensors["LSE_s"]),
          work(call.problem),
          part(static_cast<int>(blocks_of_a_part(call.problem, call.tile()) * call.tile().bc)) {}
};

/// [1] Row blocks x parts x batch-heads: thread blocks that read the same keys stand side by side.
inline dim3 grid_of_parts(const KernelCall& call) {
    const dim3 rows_and_heads = cuda::grid_of(ceil_div(call.problem.seq_q, call.tile().br), call.problem.batch_heads());
    return dim3(rows_and_heads.x, static_cast<unsigned>(parts_of(call.tile())), rows_and_heads.y);
}

/// [1] What a thread block does: rows i .. of a head on the key blocks from `begin` to `end` of part `number`.
template <int Br, int Bc>
struct Duty {
    int head, kv, i, rows, number, begin, end;

    template <class T>
    __device__ explicit Duty(const Args<T>& a)
        : head(blockIdx.z),
          kv(a.work.kv_slice(head)),
          i((gridDim.x - 1 - blockIdx.x) * Br),  // the blocks that see most keys start first
          rows(min(Br, a.work.seq_q - i)),
          number(blockIdx.y),
          begin(number * a.part),
          end(min(begin + a.part, a.work.visible_tiles(i + rows, Bc) * Bc)) {}  // [2]

    /// The first of its rows of O_s, and of LSE_s, whose rows hold their parts side by side.
    template <class T>
    __device__ float* output(const Args<T>& a) const {
        return a.O_s.row(head, number * a.work.seq_q + i);
    }
    template <class T>
    __device__ float& lse(const Args<T>& a, int r) const {
        return a.LSE_s.row(head, i + r)[number];
    }

    /// [3], [10] The sum over nothing.
    template <int threads, int Dv, class T>
    __device__ void write_nothing(const Args<T>& a) const {
        constexpr int pieces = Dv / 4;
        for (int k = threadIdx.x; k < rows * pieces; k += threads)
            cuda::store_wide(output(a) + std::int64_t{k / pieces} * a.O_s.pitch + k % pieces * 4, float4{});
        for (int r = threadIdx.x; r < rows; r += threads) lse(a, r) = -cuda::infinity;
    }
};

}  // namespace tilescope::split_kv
