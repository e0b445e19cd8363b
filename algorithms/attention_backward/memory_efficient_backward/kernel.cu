// The loops of xformers' backward kernel on CUDA cores, in fp32. New against flash_v2_backward: every product loads its
// operands again, and thread blocks take turns at a tile of dQ~: each reads it, adds to it and writes it back. A word
// per row block is its lock and counts the visits; the last visit writes dQ. Parts begin at different row blocks, so
// that they seldom meet. Bound by fp32 arithmetic: expect less than flash_v2_backward's speed.
// Run it: tilescope validate memory_efficient_backward --seq 4096 --heads 16 --dim 64 --dtype f32
#include "algorithms/attention_backward/memory_efficient_backward/algorithm.hpp"
#include "algorithms/attention_backward/memory_efficient_backward/kernel.hpp"
#include "algorithms/cuda/gradients.cuh"

namespace tilescope::memory_efficient_backward {
namespace {

using namespace cuda;

struct Args : GradientArgs<float> {
    Global<const float> O, LSE;
    Global<float> D, sums;  ///< sums: dQ~
    std::uint32_t* turns;
    int parts, row_blocks;

    Args(const KernelCall& call, int S, const char* sums_of_queries)
        : GradientArgs<float>(call),
          O(call.tensors["O"]),
          LSE(call.tensors["LSE"]),
          D(call.tensors["D"]),
          sums(call.tensors[sums_of_queries]),
          turns(call.turns),
          parts(S),
          row_blocks(static_cast<int>(ceil_div(call.problem.seq_q, call.variant->tile.br))) {}
};

/// Takes the lock of a row block, and returns how many visits it has had. The lowest bit of `word` is the lock, the
/// others count. All threads of the block call this; `told` is in shared memory.
__device__ inline int take_turn(std::uint32_t* word, std::uint32_t* told) {
    if (threadIdx.x == 0) {
        std::uint32_t found;
        while ((found = atomicOr(word, 1u)) & 1u) __nanosleep(100);
        *told = found / 2;
        __threadfence();
    }
    __syncthreads();
    return static_cast<int>(*told);
}
/// Releases the lock, and stores the number of visits.
__device__ inline void end_turn(std::uint32_t* word, int visits) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(word, 2 * static_cast<std::uint32_t>(visits));
}

template <int Dim>
__device__ inline void add(Output<Dim>& x, const Output<Dim>& y) {
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < Output<Dim>::C; ++j) x.at[i][j] += y.at[i][j];
}

/// What a thread block does, and its shared memory.
template <int B, int D, int Dv>
struct Part {
    static constexpr int threads = fp32_threads(B), wide = D > Dv ? D : Dv;
    static constexpr int unrolled = 1, query_cols = D > 32 ? 32 : D;  ///< dK_j and dV_j leave few registers
    template <int Dim>
    using RowTile = SharedTile<B, Dim, ReadBy::groups>;
    template <int Dim>
    using KeyTile = SharedTile<B, Dim, ReadBy::lanes>;

    const Args& a;
    float *rows_1, *rows_2, *keys_1, *scores;
    std::uint32_t* told;
    int kv;

    __device__ Part(const Args& args, float* shared, std::uint32_t* word)
        : a(args),
          rows_1(shared),
          rows_2(rows_1 + B * wide),
          keys_1(rows_2 + B * wide),
          scores(keys_1 + B * wide),
          told(word),
          kv(blockIdx.y) {}

    __device__ int rows_at(int i) const { return min(B, a.work.seq_q - i); }
    __device__ int key_blocks_of(int i) const { return a.work.visible_tiles(i + rows_at(i), B); }
    template <int Dim>
    __device__ RowTile<Dim> load_rows(Global<const float> from, float* to, int head, int i) const {
        const RowTile<Dim> tile{to};
        load_async<threads, unrolled>(tile, from.row(head, i), from.pitch, rows_at(i));
        return tile;
    }
    template <int Dim>
    __device__ KeyTile<Dim> load_keys(Global<const float> from, int j, int keys) const {
        const KeyTile<Dim> tile{keys_1};
        load_async<threads, unrolled>(tile, from.row(kv, j), from.pitch, keys);
        return tile;
    }

    /// Lines 2 and 3 of the pseudo-code.
    __device__ void begin() const {
        for (int head = kv * a.group; head < (kv + 1) * a.group; ++head)
            for (int i = 0; i < a.work.seq_q; i += B) {
                row_product<threads, B, Dv>(a.O, Global<const float>(a.dO), a.D, head, i, rows_at(i), scores);
                __syncthreads();  // the sums are no longer read
                if (blockIdx.x > 0 || key_blocks_of(i) > 0 || !warp_has_rows(rows_at(i))) continue;
                Output<D> zeros;
                zeros.fill(0);
                store(zeros, a.dQ.row(head, i), a.dQ.pitch, rows_at(i));
            }
    }

    /// Lines 11 and 12 of the pseudo-code.
    __device__ void add_queries(const RowTile<B>& ds, const KeyTile<D>& k, int head, int i, int j, int keys) const {
        const int visits = key_blocks_of(i), rows = rows_at(i);
        const bool alone = a.parts == 1, active = warp_has_rows(rows);
        std::uint32_t* const word = a.turns + std::int64_t{head} * a.row_blocks + i / B;
        int visit = j / B;
#pragma unroll 1
        for (int c = 0; c < D; c += query_cols) {
            Output<query_cols> dq;
            dq.fill(0);
            if (active) accumulate(dq, ds, k, keys, c);
            if (c == 0 && !alone) visit = take_turn(word, told);
            if (!active) continue;
            if (!alone || visit > 0) {
                Output<query_cols> sum;
                load(sum, a.sums.row(head, i) + c, a.sums.pitch, rows);
                add(dq, sum);
            }
            const Global<float>& to = visit == visits - 1 ? a.dQ : a.sums;
            store(dq, to.row(head, i) + c, to.pitch, rows);
        }
        if (!alone) end_turn(word, visit + 1 < visits ? visit + 1 : 0);
    }

    /// Lines 5 to 13 of the pseudo-code.
    __device__ void step(Output<D>& dk, Output<Dv>& dv, int head, int i, int j, int keys) const {
        const int rows = rows_at(i);
        const bool active = warp_has_rows(rows);
        const RowTile<B> weights{scores};
        const Pair statistics = load_pair(a.LSE.row(head, i), a.D.row(head, i), rows);
        Scores<B> s;
        {
            const auto q = load_rows<D>(a.Q, rows_1, head, i);
            const auto k = load_keys<D>(a.K, j, keys);
            const auto g = load_rows<Dv>(a.dO, rows_2, head, i);
            wait_for_loads();
            if (active) {
                score<unrolled>(s, q, k, keys, a.work.scale);
                mask(s, a.work, i, j, keys);
                exp_minus(s, statistics.first, keys);
                stage(weights, s);
            }
            __syncthreads();  // P is here; Q_i and K_j are no longer read
            const auto again = load_rows<Dv>(a.dO, rows_1, head, i);
            const auto v = load_keys<Dv>(a.V, j, keys);
            accumulate_transposed<unrolled>(dv, weights, g, rows);
            wait_for_loads();
            if (active) {
                score<unrolled>(s, again, v, keys, 1);
                gradients(s, weights, statistics.second, keys);
            }
        }
        __syncthreads();  // P, dO_i and V_j are no longer read
        const auto k = load_keys<D>(a.K, j, keys);
        const auto q = load_rows<D>(a.Q, rows_2, head, i);
        if (active) stage(weights, s);
        wait_for_loads();
        add_queries(weights, k, head, i, j, keys);
        accumulate_transposed<unrolled>(dk, weights, q, rows);
        __syncthreads();  // dS, K_j and Q_i are no longer read
    }

    /// dP becomes scale dS = scale P * (dP - D_i). P is read from shared memory, which saves registers.
    __device__ void gradients(Scores<B>& dp, const RowTile<B>& p, float d, int keys) const {
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const float row = spread(d, i);
#pragma unroll
            for (int j = 0; j < Scores<B>::C; ++j) {
                const float weight = a.work.scale * p.at(first_row() + i, Scores<B>::col(j));
                dp.at[i][j] = L * j < keys ? weight * (dp.at[i][j] - row) : 0;
            }
        }
    }

    /// Lines 4 to 14 of the pseudo-code.
    __device__ void key_block(int j) const {
        const int keys = min(B, a.work.seq_k - j), seen_from = a.work.first_seeing(j, B);
        const int seeing = a.row_blocks - seen_from;
        Output<D> dk;
        Output<Dv> dv;
        dk.fill(0);
        dv.fill(0);
        const int start = max(seen_from, min(static_cast<int>(blockIdx.x), a.row_blocks - 1));
        int head = kv * a.group, i = start;
        for (int n = 0; n < seeing * a.group; ++n) {
            step(dk, dv, head, i * B, j, keys);
            if (++i == a.row_blocks) i = seen_from;
            if (i == start) ++head;
        }
        store(dk, a.dK.row(kv, j), a.dK.pitch, keys);
        store(dv, a.dV.row(kv, j), a.dV.pitch, keys);
    }
};

template <int B, int D, int Dv>
__global__ void __launch_bounds__(fp32_threads(B), 1) part_kernel(Args a) {
    // Beside `told`, shared memory has to be aligned: a sector of 32 bytes that cp.async copies to parts of two sectors
    // of shared memory is fetched twice.
    extern __shared__ __align__(128) float4 shared[];
    __shared__ std::uint32_t told;
    const Part<B, D, Dv> part(a, reinterpret_cast<float*>(shared), &told);
    part.begin();
    for (int j = blockIdx.x * B; j < a.work.seq_k; j += a.parts * B) part.key_block(j);
}

/// Fills dQ~ with zeros, where several parts add to it.
void zero_sums(const KernelCall& call) {
    const DeviceTensor sums = call.tensors["dQ~"];
    const Bytes size = call.problem.batch_heads() * sums.layout.slice * static_cast<Bytes>(sizeof(float));
    check(cudaMemsetAsync(sums.data, 0, static_cast<std::size_t>(size), static_cast<cudaStream_t>(call.stream)),
          "cudaMemsetAsync");
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    const Index S = parts_of(call.problem, call.tile());
    if (S > 1) zero_sums(call);
    const Args args(call, static_cast<int>(S), accumulator(call.problem, call.tile()));
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        enqueue("memory_efficient_backward", part_kernel<v.tile.br, v.dim, v.dim_v>,
                grid_of(S, call.problem.kv_slices()), v.threads, v.shared(), call.stream, args);
    });
}

}  // namespace tilescope::memory_efficient_backward
