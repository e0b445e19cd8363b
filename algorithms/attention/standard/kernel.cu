// Attention as three launches on CUDA cores, in fp32: the first rung. S and P are whole matrices in HBM. The two
// products are tiled, with a thread block per tile of S and one per row block of O; tiles of S that causality hides are
// computed like all others. In the softmax, a row of S is read once and stays in the registers of 8 to 256 threads,
// from the maximum to the division.
//
// Rows of up to 16384 keys fit. Longer rows are streamed by the kernel of softmax_safe or softmax_naive, which reads S
// three times or twice. The model spends all registers of an SM on rows, and streams only beyond some 65,500 keys on an
// H200. In between, the kernel reads more than the model counts, and computes each exponential twice.
//
// The products are bound by fp32 arithmetic, the softmax by memory: expect flash_v2's time for the products, and the
// time of moving Nq x Nk numbers four times (write S, read S, write P, read P).
// Run it: tilescope validate standard --seq 4096 --heads 16 --dim 64 --dtype f32
#include "algorithms/attention/standard/kernel.hpp"
#include "algorithms/cuda/softmax_chunks.cuh"
#include "algorithms/cuda/whole_rows.cuh"
#include "algorithms/softmax/softmax_naive/kernel.hpp"
#include "algorithms/softmax/softmax_safe/kernel.hpp"

namespace tilescope::standard {
namespace {

using namespace cuda;

struct Args {
    Global<const float> Q, K, V;
    Global<float> S, P, O;
    Workload work;
};

// ---- launch 1 ----

template <int Br, int Bc, int D>
__global__ void __launch_bounds__(fp32_threads(Br), 2) standard_scores(Args a) {
    constexpr int threads = fp32_threads(Br);
    extern __shared__ float4 shared[];
    const SharedTile<Br, D, ReadBy::groups> q{reinterpret_cast<float*>(shared)};
    const SharedTile<Bc, D, ReadBy::lanes> k{q.data + q.size};
    const Workload& w = a.work;

    const int head = blockIdx.y, i = blockIdx.x * Br, j = blockIdx.z * Bc;  // [1]
    const int rows = min(Br, w.seq_q - i), keys = min(Bc, w.seq_k - j);

    load_async<threads>(q, a.Q.row(head, i), a.Q.pitch, rows);  // [2]
    load_async<threads>(k, a.K.row(w.kv_slice(head), j), a.K.pitch, keys);
    wait_for_loads();
    if (!warp_has_rows(rows)) return;
    Scores<Bc> s;
    score(s, q, k, keys, w.scale);
    mask(s, w, i, j, keys);
    store(s, a.S.row(head, i) + j, a.S.pitch, rows, keys);
}

// ---- launch 2 ----

template <int T, bool safe>
__global__ void __launch_bounds__(whole_rows_threads, 2) standard_softmax(Args a) {
    constexpr int rows = whole_rows_threads / T, warps = T < 32 ? 1 : T / 32;  // rows of the block, warps of a row
    __shared__ float sums[rows * warps], reciprocals[rows];

    const int head = blockIdx.y, r = threadIdx.x / T, t = threadIdx.x % T;
    const int i = blockIdx.x * rows + r;               // [3]
    Row<T> s(t, i < a.work.seq_q ? a.work.seq_k : 0);  // rows that do not exist have no columns
    s.load(a.S.row(head, i));                          // [4]
    float shift = 0;
    if constexpr (safe) {
        float m = -infinity;
        s.each([&](float& x) { m = fmaxf(m, x); });
        m = reduce_in_warp<T>(m, [](float x, float y) { return fmaxf(x, y); });
        if constexpr (warps > 1) {
            __shared__ float maxima[rows * warps];
            if (t % 32 == 0) maxima[r * warps + t / 32] = m;
            __syncthreads();
            for (int w = 0; w < warps; ++w) m = fmaxf(m, maxima[r * warps + w]);
        }
        shift = finite(m);
    }

    float l = 0;  // [5]
    s.each([&](float& x) {
        x = exponential(safe ? x - shift : x);
        l += x;
    });
    l = reduce_in_warp<T>(l, [](float x, float y) { return x + y; });
    if (t % 32 == 0) sums[r * warps + t / 32] = l;
    __syncthreads();
    if (threadIdx.x < rows) {  // one instruction for all rows of the block
        float sum = 0;
        for (int w = 0; w < warps; ++w) sum += sums[threadIdx.x * warps + w];
        reciprocals[threadIdx.x] = reciprocal(sum);
    }
    __syncthreads();
    const float factor = reciprocals[r];
    s.each([&](float& x) { x *= factor; });
    s.store(a.P.row(head, i));
}

template <int T>
void softmax(const KernelCall& call, const Args& args) {
    const Problem& p = call.problem;
    if constexpr (T < whole_rows_threads)
        if (p.seq_k > Row<T>::capacity) return softmax<2 * T>(call, args);
    enqueue("softmax", p.softmax == Softmax::safe ? standard_softmax<T, true> : standard_softmax<T, false>,
            grid_of(ceil_div(p.seq_q, whole_rows_threads / T), p.batch_heads()), whole_rows_threads, 0, call.stream,
            args);
}

/// For rows that do not fit in registers: the kernel of softmax_safe or softmax_naive, with S as X and P as Y.
void softmax_streamed(const KernelCall& call) {
    DeviceTensors rows;
    rows.add("X", call.tensors["S"]);
    rows.add("Y", call.tensors["P"]);
    if (call.problem.softmax == Softmax::safe)
        softmax_safe::launch_kernel({&softmax_safe::kernels[0], call.problem, rows, call.stream});
    else
        softmax_naive::launch_kernel({&softmax_naive::kernels[0], call.problem, rows, call.stream});
}

// ---- launch 3 ----

template <int Br, int Bc, int Dv>
__global__ void __launch_bounds__(fp32_threads(Br), 1) standard_output(Args a) {
    constexpr int threads = fp32_threads(Br);
    extern __shared__ float4 shared[];
    const SharedTile<Br, Bc, ReadBy::groups> p{reinterpret_cast<float*>(shared)};
    const SharedTile<Bc, Dv, ReadBy::rows> v{p.data + p.size};
    const Workload& w = a.work;

    const int head = blockIdx.y, kv = w.kv_slice(head), i = blockIdx.x * Br;  // [6]
    const int rows = min(Br, w.seq_q - i);
    const bool active = warp_has_rows(rows);
    Output<Dv> o;
    o.fill(0);
    for (int j = 0; j < w.seq_k; j += Bc) {  // [7]
        const int keys = min(Bc, w.seq_k - j);
        load_scores<threads>(p, a.P.row(head, i) + j, a.P.pitch, rows, keys);
        load_async<threads>(v, a.V.row(kv, j), a.V.pitch, keys);
        wait_for_loads();
        if (active) accumulate(o, p, v, keys);
        __syncthreads();  // P_ij and V_j are no longer read
    }
    if (active) store(o, a.O.row(head, i), a.O.pitch, rows);  // [8]
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    const auto& t = call.tensors;
    const Problem& p = call.problem;
    const Args args{Global<const float>(t["Q"]),
                    Global<const float>(t["K"]),
                    Global<const float>(t["V"]),
                    Global<float>(t["S"]),
                    Global<float>(t["P"]),
                    Global<float>(t["O"]),
                    Workload(p)};
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        constexpr Index br = v.tile.br, bc = v.tile.bc;
        const dim3 row_blocks = grid_of(ceil_div(p.seq_q, br), p.batch_heads());
        const dim3 tiles(row_blocks.x, row_blocks.y, static_cast<unsigned>(ceil_div(p.seq_k, bc)));
        enqueue("scores", standard_scores<br, bc, v.dim>, tiles, v.threads, scores_tiles(br, bc, v.dim), call.stream,
                args);
        p.seq_k > Row<whole_rows_threads>::capacity ? softmax_streamed(call) : softmax<8>(call, args);
        enqueue("output", standard_output<br, bc, v.dim_v>, row_blocks, v.threads, output_tiles(br, bc, v.dim_v),
                call.stream, args);
    });
}

}  // namespace tilescope::standard
