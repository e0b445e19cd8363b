// What lanes need, on compute capability 9.0: barriers in shared memory that count arrivals and bytes (mbarrier),
// copies of whole boxes of a tensor that one thread asks for (TMA), turns of warpgroups (named barriers), registers
// that move from one warpgroup to another (setmaxnreg), and thread blocks that share copies (clusters).
#pragma once

#include <cuda.h>

#include "algorithms/cuda/device.cuh"

namespace tilescope::cuda {

__device__ inline unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

/// A barrier whose phases end when `arrivals` threads have arrived and all bytes that were announced are there.
struct Barrier {
    std::uint64_t word;

    __device__ void init(unsigned arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)), "r"(arrivals) : "memory");
    }
    __device__ void arrive() {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
    }
    /// Arrives, and announces bytes that copies will bring.
    __device__ void expect(unsigned bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(this)), "r"(bytes)
                     : "memory");
    }
    /// Waits for the end of the phase of this parity: 0 for the first. What was before the first, of parity 1, has
    /// ended: readers of a ring wait for `there` with `parity`, its producer for `free` with `parity ^ 1`.
    __device__ void wait(unsigned parity) {
        for (unsigned ended = 0; !ended;)
            asm volatile(
                "{\n.reg .pred ended;\nmbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
                "selp.u32 %0, 1, 0, ended;\n}"
                : "=r"(ended)
                : "r"(shared_address(this)), "r"(parity)
                : "memory");
    }
};
/// Shows initialised barriers to the unit that copies, and to the other thread blocks of a cluster.
__device__ inline void barriers_are_ready() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// Who waits for whom at the slots of a ring: its readers for a tile that is there, its producer for a free slot.
template <int slots>
struct Slots {
    Barrier there[slots], free[slots];

    __device__ void init(unsigned reading_warps, unsigned writers = 1) {
        for (int n = 0; n < slots; ++n) there[n].init(writers), free[n].init(reading_warps);
    }
};
/// The slot that a lane comes to next, and the parity of the slot's phase.
template <int slots>
struct Place {
    int slot = 0;
    unsigned parity = 0;

    __device__ void next() {
        if (++slot == slots) slot = 0, parity ^= 1;
    }
    /// The one that this lane came to last.
    __device__ Place before() const { return slot > 0 ? Place{slot - 1, parity} : Place{slots - 1, parity ^ 1}; }
};

/// Shows this thread's stores to shared memory to products, which read by another way: before it arrives where these
/// are waited for (PTX ISA, "fence.proxy.async").
__device__ inline void show_to_products() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Starts to copy a box of a tensor into shared memory. What lies beyond the tensor's rows becomes 0. `arrived` counts
/// the box's bytes, those too.
__device__ inline void copy_box(void* to, const CUtensorMap& from, int column, int row, int slice, Barrier& arrived) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
            "r"(shared_address(to)),
        "l"(&from), "r"(column), "r"(row), "r"(slice), "r"(shared_address(&arrived))
        : "memory");
}
/// Fetches the description of a tensor, so that the first copy need not wait for it.
__device__ inline void prefetch(const CUtensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// ---- thread blocks of a cluster: neighbours in the grid that run at the same time and reach each other's shared
// memory (PTX ISA, "Cluster of Cooperative Thread Arrays") ----

/// This thread block's number within its cluster (%cluster_ctarank).
__device__ inline int rank_in_cluster() {
    int rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/// Waits for all threads of the cluster that have not ended (PTX ISA, "barrier.cluster").
__device__ inline void meet_cluster() {
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

/// Arrives at the same barrier of another thread block of the cluster, or of this one (PTX ISA, "mapa" for its address,
/// "mbarrier.arrive"). Orders no loads and stores of the two: tiles are read by products, which have ended, and written
/// by copies. With .release.cluster here and .acquire.cluster at the wait, a kernel took a quarter longer.
__device__ inline void arrive_at(int rank, Barrier& barrier) {
    asm volatile(
        "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(shared_address(&barrier)),
        "r"(rank)
        : "memory");
}
/// copy_box() into the same place of the first `blocks` thread blocks of the cluster. The barrier of each counts the
/// bytes (PTX ISA, "cp.async.bulk.tensor" with .multicast::cluster).
template <int blocks>
__device__ inline void copy_box_to_all(void* to, const CUtensorMap& from, int column, int row, int slice,
                                       Barrier& arrived) {
    constexpr std::uint16_t all = (1 << blocks) - 1;
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%2, %3, %4}], [%5], %6;" ::"r"(shared_address(to)),
        "l"(&from), "r"(column), "r"(row), "r"(slice), "r"(shared_address(&arrived)), "h"(all)
        : "memory");
}

// ---- warpgroups ----

/// take_turn() waits for the hand_over() of another warpgroup at the named barrier. 256: the threads of both.
__device__ inline void take_turn(int barrier) { asm volatile("bar.sync %0, 256;" ::"r"(barrier) : "memory"); }
__device__ inline void hand_over(int barrier) { asm volatile("bar.arrive %0, 256;" ::"r"(barrier) : "memory"); }

/// From now on, each thread of this warpgroup has n registers: fewer than at launch.
template <int n>
__device__ inline void give_back_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n));
}
/// From now on, each thread of this warpgroup has n registers. Waits until other warpgroups have given back enough.
template <int n>
__device__ inline void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n));
}

/// Stores 16 bytes of global memory at once. The compiler cuts some assignments of an uint4 into four stores, each of
/// which writes parts of sectors.
__device__ inline void store_16_bytes(void* to, const unsigned (&x)[4]) {
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "r"(x[0]), "r"(x[1]),
                 "r"(x[2]), "r"(x[3])
                 : "memory");
}

// ---- from the host ----

/// The driver's function that describes tensors to the unit that copies.
inline auto tensor_map_encoder() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    constexpr const char* name = "cuTensorMapEncodeTiled";
    check(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found), name);
    if (found != cudaDriverEntryPointSuccess) throw RunError(name);
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

/// Describes a tensor of 16-bit or 8-bit numbers to copy_box(). Boxes are panels (wgmma.cuh), whose rows have 128 or 64
/// bytes.
inline CUtensorMap tensor_map(const DeviceTensor& t, Dtype dtype, Index slices, Index rows, Index cols, Index box_rows,
                              Index box_cols) {
    const Bytes size = size_of(dtype);
    const cuuint64_t sizes[] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows),
                                static_cast<cuuint64_t>(slices)};
    const cuuint64_t bytes[] = {static_cast<cuuint64_t>(size * t.layout.row),
                                static_cast<cuuint64_t>(size * t.layout.slice)};
    const cuuint32_t box[] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows), 1},
                     steps[] = {1, 1, 1};
    const CUtensorMapDataType type = size == 1             ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                     : dtype == Dtype::f16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                           : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    CUtensorMap map;
    const CUresult result =
        tensor_map_encoder()(&map, type, 3, t.data, sizes, bytes, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                             size * box_cols == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) throw RunError("cuTensorMapEncodeTiled: " + std::to_string(result));
    return map;
}

/// SMs of the GPU, for a persistent grid.
inline int sms() {
    int device = 0, count = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
    return count;
}

/// Enqueues one launch whose thread blocks form clusters of so many. `name` is what the simulated program calls it.
template <class... Args>
void enqueue_clusters(const char* name, void (*kernel)(Args...), Index cluster, Index blocks, Index threads,
                      Bytes shared, void* stream, Args... args) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)), name);
    cudaLaunchAttribute clusters;
    clusters.id = cudaLaunchAttributeClusterDimension;
    clusters.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(blocks)), config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = static_cast<std::size_t>(shared), config.stream = static_cast<cudaStream_t>(stream);
    config.attrs = &clusters, config.numAttrs = 1;
    check(cudaLaunchKernelEx(&config, kernel, args...), name);
}

}  // namespace tilescope::cuda
