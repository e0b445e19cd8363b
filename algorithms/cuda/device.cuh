// What every kernel needs: how threads share rows, the workload, tensors in HBM, and launching. Tiles in shared memory
// are in shared_tiles.cuh, a thread's parts of them in fragments.cuh, maxima and sums in row_statistics.cuh. Their
// counterparts for tensor cores are in tensor_cores.cuh, tensor_core_fragments.cuh and tensor_core_statistics.cuh.
//
// In an fp32 kernel, a thread block consists of groups of 16 lanes. A group owns 8 rows of queries, so a warp owns 16.
// In a score tile, lane x holds columns x, x + 16, x + 32, ...; in an output tile, pieces of up to 4 neighbouring
// columns, so that stores are wide. A row's statistics (m, l, correction factors) are in 2 of its group's 16 lanes:
// lane x keeps those of row x % 8. `spread` broadcasts them to the group.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <utility>

#include "algorithms/cuda/kernel.hpp"
#include "core/machine/error.hpp"

namespace tilescope::cuda {

inline constexpr int R = rows_per_thread, L = lanes_per_row;
inline constexpr float infinity = __builtin_huge_valf();

__device__ inline int lane() { return threadIdx.x % L; }
/// This thread's first row within the block's tile of queries.
__device__ inline int first_row() { return threadIdx.x / L * R; }
/// Whether any of this warp's 16 rows is among the first `rows`. All threads of a warp get the same answer.
__device__ inline bool warp_has_rows(int rows) { return static_cast<int>(threadIdx.x) / 32 * 2 * R < rows; }

/// e^x by one multiplication and one operation of the special-function unit. 0 for x < -87.3: subnormals are flushed.
__device__ inline float exponential(float x) {
    float y;
    // volatile: the compiler must not compute exps ahead of a condition: counters would count exps that nobody needs
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
    return y;
}

// ---- the workload, as a kernel sees it ----

struct Workload {
    int seq_q, seq_k;
    int diagonal;  ///< query r sees keys <= r + diagonal; seq_k where all keys are seen. Masked has p.diagonal()
    float scale;
    std::uint64_t kv_per_head;  ///< 2^32 / query heads per K/V head: counters take a division for an exponential

    explicit Workload(const Problem& p)
        : seq_q(static_cast<int>(p.seq_q)),
          seq_k(static_cast<int>(p.seq_k)),
          diagonal(static_cast<int>(p.mask.is_causal() && p.diagonal() < p.seq_k - 1 ? p.diagonal() : p.seq_k)),
          scale(p.logit_scale()),
          kv_per_head((std::uint64_t{1} << 32) / static_cast<std::uint64_t>(p.heads / p.kv_heads) + 1) {}

    /// The K and V slice that a query head reads.
    __device__ int kv_slice(int head) const { return static_cast<int>(head * kv_per_head >> 32); }
    /// How many key tiles a row block that ends before row `end` sees.
    __device__ int visible_tiles(int end, int bc) const {
        const int keys = min(max(end + diagonal, 0), seq_k);
        return (keys + bc - 1) / bc;
    }
    /// The first row block that sees key `key`.
    __device__ int first_seeing(int key, int br) const { return max(0, key - diagonal) / br; }
};

/// A tensor in HBM: slices of rows.
template <class T>
struct Global {
    T* data;
    std::int64_t slice_pitch;
    int pitch;

    explicit Global(const DeviceTensor& t)
        : data(static_cast<T*>(t.data)), slice_pitch(t.layout.slice), pitch(static_cast<int>(t.layout.row)) {}
    __device__ T* row(int slice, int r) const { return data + slice * slice_pitch + std::int64_t{r} * pitch; }
};

/// Arguments of an attention kernel that needs no scratch and writes only O.
struct AttentionArgs {
    Global<const float> Q, K, V;
    Global<float> O;
    Workload work;

    explicit AttentionArgs(const KernelCall& call)
        : Q(call.tensors["Q"]), K(call.tensors["K"]), V(call.tensors["V"]), O(call.tensors["O"]), work(call.problem) {}
};

// ---- launching, from the host ----

/// Throws what CUDA says of one of its functions, or of a launch, by whose name.
inline void check(cudaError_t code, const char* name) {
    if (code != cudaSuccess) throw RunError(std::string(name) + ": " + cudaGetErrorString(code));
}

/// Calls f.operator()<I>() for the position I of the call's variant in `table`.
template <const auto& table, class F>
void dispatch(const KernelCall& call, F f) {
    const auto try_one = [&]<std::size_t I>() {
        if (!(table[I] == *call.variant)) return false;
        f.template operator()<I>();
        return true;
    };
    const bool found = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return (try_one.template operator()<I>() || ...);
    }
    (std::make_index_sequence<std::size(table)>());
    if (!found) throw std::logic_error("the variant is not one of this kernel's");
}

/// Enqueues one launch. `name` is what the simulated program calls the launch.
template <class... Args>
void enqueue(const char* name, void (*kernel)(Args...), dim3 grid, Index threads, Bytes shared, void* stream,
             Args... args) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)), name);
    kernel<<<grid, static_cast<unsigned>(threads), static_cast<std::size_t>(shared),
             static_cast<cudaStream_t>(stream)>>>(args...);
    check(cudaGetLastError(), name);
}

/// Whether the GPU has programmatic dependent launch: Hopper and later.
inline bool launches_overlap() {
    int device = 0, major = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
    return major >= 9;
}

/// Enqueues a launch that may start while the last thread blocks of the launch before it still run (programmatic
/// dependent launch). Its kernel has to call wait_for_launch_before() before it reads what that launch wrote.
template <class... Args>
void enqueue_overlapping(const char* name, void (*kernel)(Args...), dim3 grid, Index threads, Bytes shared,
                         void* stream, Args... args) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)), name);
    cudaLaunchAttribute overlap;
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid, config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = static_cast<std::size_t>(shared), config.stream = static_cast<cudaStream_t>(stream);
    config.attrs = &overlap, config.numAttrs = launches_overlap() ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, args...), name);
}
/// Waits until the launch before has ended and everything that it wrote is visible.
__device__ inline void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// The next launch may start as soon as all thread blocks of this one have called this function or ended.
__device__ inline void let_next_launch_come() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Row blocks x batch-heads, one thread block each.
inline dim3 grid_of(Index row_blocks, Index batch_heads) {
    require_heads_of_grid(batch_heads);
    return dim3(static_cast<unsigned>(row_blocks), static_cast<unsigned>(batch_heads));
}

}  // namespace tilescope::cuda
