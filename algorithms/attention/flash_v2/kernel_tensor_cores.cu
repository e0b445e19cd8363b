// FlashAttention-2 on tensor cores, in f16 and bf16: kernel.cu's loops with both products as mma.sync m16n8k16. New
// against it: four warps of 32 rows each hold S, P and O in registers alone (an accumulator of S is laid out like an
// operand of the second product, so P needs no staging), and K_(j+1) arrives while P V_j is computed, V_j while Q
// K_j^T. Bound by the tensor cores at d = 128, and by them and the exponentials at d = 64: expect what the library's
// kernel of the same tiles reaches (docs/validation.md has what was measured). Run it: tilescope validate flash_v2
// --seq 4096 --heads 64 --dim 128 --dtype f16
#include "algorithms/attention/flash_v2/kernel.hpp"
#include "algorithms/cuda/tensor_cores.cuh"

namespace tilescope::flash_v2 {
namespace {

using namespace cuda;

template <class T>
struct Args {
    Global<const T> Q, K, V;
    Global<T> O;
    Global<float> LSE;
    Workload work;
};

constexpr int threads = 128, M = 2;  // a warp owns M x 16 rows
constexpr int warp_rows = 16 * M;

/// A warp's 32 x N accumulators: at[mt][nt] is rows 16 mt .. and columns 8 nt ..
template <int N>
struct Accumulators {
    float at[M][N / 8][4];

    __device__ void fill(float x) {
#pragma unroll
        for (int mt = 0; mt < M; ++mt)
#pragma unroll
            for (int nt = 0; nt < N / 8; ++nt)
#pragma unroll
                for (int e = 0; e < 4; ++e) at[mt][nt][e] = x;
    }
};

// A quad shares 4 rows: rows 16 (q / 2) + 8 (q % 2) + lane / 4 of the warp for q = 0..3. Lane q of it keeps row q's
// statistics. (Accumulator element e of m-tile mt belongs to row q = 2 mt + e / 2.)
__device__ inline int quad_lane() { return threadIdx.x % 4; }
__device__ inline float spread_in_quad(float kept, int q) { return __shfl_sync(~0u, kept, q, 4); }
__device__ inline int kept_row_of_warp() { return quad_lane() / 2 * 16 + quad_lane() % 2 * 8 + threadIdx.x % 32 / 4; }

/// x[q] is this lane's share of row q; reduces over the quad.
template <class Op>
__device__ inline float reduce_quad(const float (&x)[4], Op op) {
    const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
    float two[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const float other = __shfl_xor_sync(~0u, odd ? x[2 * k] : x[2 * k + 1], 1);
        two[k] = op(odd ? x[2 * k + 1] : x[2 * k], other);
    }
    const float other = __shfl_xor_sync(~0u, upper ? two[0] : two[1], 2);
    return op(upper ? two[1] : two[0], other);
}

/// S = Q K^T, unscaled.
template <class T, int Br, int Bc, int D>
__device__ inline void score(Accumulators<Bc>& s, const HalfTile<T, Br, D>& q, const HalfTile<T, Bc, D>& k, int row) {
    const int lane = threadIdx.x % 32;
    const unsigned first_q = q.address() + q.offset(row + lane % 16, lane / 16);
    const unsigned first_k = k.address() + k.offset(lane % 8 + lane / 16 * 8, lane / 8 % 2);
    s.fill(0);
#pragma unroll 2  // unrolled wholly, the loads that ptxas moves ahead do not fit in registers
    for (int kd = 0; kd < D / 16; ++kd) {
        unsigned a[M][4];
#pragma unroll
        for (int mt = 0; mt < M; ++mt) ldmatrix(a[mt], (first_q ^ (kd << 5)) + mt * 16 * q.row_bytes);
#pragma unroll
        for (int nt = 0; nt < Bc / 8; nt += 2) {
            unsigned b[4];
            ldmatrix(b, (first_k ^ (kd << 5)) + nt * 8 * k.row_bytes);
#pragma unroll
            for (int mt = 0; mt < M; ++mt) {
                mma<T>(s.at[mt][nt], a[mt], b[0], b[1]);
                mma<T>(s.at[mt][nt + 1], a[mt], b[2], b[3]);
            }
        }
    }
}

/// A warp's 32 x K operand, in the storage type: at[mt][k] is rows 16 mt .. and columns 16 k ..
template <int K>
struct Operand {
    unsigned at[M][K / 16][4];
};

/// P, rounded to the storage type: two neighbouring tiles of accumulators are laid out as one operand.
template <class T, int Bc>
__device__ inline Operand<Bc> rounded(const Accumulators<Bc>& p) {
    Operand<Bc> x;
#pragma unroll
    for (int mt = 0; mt < M; ++mt)
#pragma unroll
        for (int k = 0; k < Bc / 16; ++k)
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                const float(&tile)[4] = p.at[mt][2 * k + part / 2];
                x.at[mt][k][part] = pack<T>(tile[part % 2 * 2], tile[part % 2 * 2 + 1]);
            }
    return x;
}

/// O += P V.
template <class T, int Bc, int Dv>
__device__ inline void accumulate(Accumulators<Dv>& o, const Operand<Bc>& p, const HalfTile<T, Bc, Dv>& v) {
    const int lane = threadIdx.x % 32;
    const unsigned first = v.address() + v.offset(lane % 16, lane / 16);
#pragma unroll
    for (int k = 0; k < Bc / 16; ++k) {
#pragma unroll
        for (int n = 0; n < Dv / 16; ++n) {
            unsigned b[4];
            ldmatrix_transposed(b, (first ^ (n << 5)) + k * 16 * v.row_bytes);
#pragma unroll
            for (int mt = 0; mt < M; ++mt) {
                mma<T>(o.at[mt][2 * n], p.at[mt][k], b[0], b[1]);
                mma<T>(o.at[mt][2 * n + 1], p.at[mt][k], b[2], b[3]);
            }
        }
    }
}

/// Scores of keys that do not exist or that causality hides become -inf. `row`: the warp's first.
template <int Bc>
__device__ inline void mask(Accumulators<Bc>& s, const Workload& w, int row, int key, int keys) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int mt = 0; mt < M; ++mt)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int r = row + 16 * mt + e / 2 * 8 + lane / 4;
            const int seen = min(keys, r + w.diagonal - key + 1) - lane % 4 * 2 - e % 2;  // of this element's columns
#pragma unroll
            for (int nt = 0; nt < Bc / 8; ++nt)
                if (8 * nt >= seen) s.at[mt][nt][e] = -infinity;
        }
}

/// Reduces each of the quad's four rows.
template <int Bc, class Op>
__device__ inline float reduce_rows(const Accumulators<Bc>& s, Op op) {
    float x[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        const auto element = [&](int k) { return s.at[q / 2][k / 2][q % 2 * 2 + k % 2]; };
        x[q] = element(0);
#pragma unroll
        for (int k = 1; k < Bc / 4; ++k) x[q] = op(x[q], element(k));
    }
    return reduce_quad(x, op);
}

__device__ inline float exp2_of(float x) {
    float y;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));  // volatile: see exponential()
    return y;
}

/// S = 2^(to_log2 (S - m)) for the first `keys` keys, 0 for the others.
template <int Bc>
__device__ inline void exp_minus(Accumulators<Bc>& s, float m, float to_log2, int keys) {
    const float shift = finite(m) * to_log2;
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        const float row = spread_in_quad(shift, q);
#pragma unroll
        for (int nt = 0; nt < Bc / 8; ++nt)
#pragma unroll
            for (int e = q % 2 * 2; e < q % 2 * 2 + 2; ++e) {
                float& x = s.at[q / 2][nt][e];
                x = 8 * nt < keys ? exp2_of(fmaf(x, to_log2, -row)) : 0.f;
            }
    }
}

template <int N>
__device__ inline void scale_rows(Accumulators<N>& o, float factor) {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        const float f = spread_in_quad(factor, q);
#pragma unroll
        for (int nt = 0; nt < N / 8; ++nt)
#pragma unroll
            for (int e = q % 2 * 2; e < q % 2 * 2 + 2; ++e) o.at[q / 2][nt][e] *= f;
    }
}

/// Stores the warp's rows, of which `rows` exist. They pass through the warp's own rows of `tile`, to leave in pieces
/// of 16 bytes.
template <class T, int Br, int D>
__device__ inline void store(const Accumulators<D>& o, const HalfTile<T, Br, D>& tile, int row, T* to, int pitch,
                             int rows) {
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int mt = 0; mt < M; ++mt)
#pragma unroll
        for (int nt = 0; nt < D / 8; ++nt)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                char* const piece = tile.piece(row + 16 * mt + 8 * half + lane / 4, nt);
                *reinterpret_cast<unsigned*>(piece + lane % 4 * 4) =
                    pack<T>(o.at[mt][nt][2 * half], o.at[mt][nt][2 * half + 1]);
            }
    __syncwarp();
    constexpr int pieces = D / 8;
#pragma unroll
    for (int k = lane; k < warp_rows * pieces; k += 32) {
        const int r = k / pieces, c = k % pieces;
        if (r < rows)
            __stcg(reinterpret_cast<uint4*>(to + std::int64_t{r} * pitch + 8 * c),
                   *reinterpret_cast<const uint4*>(tile.piece(row + r, c)));
    }
}

template <class T, int Br, int Bc, int D>
__global__ void __launch_bounds__(threads, 2) flash_v2_tensor_core_kernel(Args<T> a) {
    static_assert(Br == threads / 32 * warp_rows);
    extern __shared__ __align__(1024) uint4 shared[];  // so that columns can be found by exclusive or
    const HalfTile<T, Br, D> q{reinterpret_cast<T*>(shared)};
    const HalfTile<T, Bc, D> k{q.data + q.size}, v{k.data + k.size};
    const Workload& w = a.work;
    const float to_log2 = w.scale * 1.44269504f;

    const int head = blockIdx.y, kv = w.kv_slice(head);
    const int i = (gridDim.x - 1 - blockIdx.x) * Br;  // [3] the blocks that see most keys start first
    const int rows = min(Br, w.seq_q - i), tiles = w.visible_tiles(i + rows, Bc);
    const int row = threadIdx.x / 32 * warp_rows;  // this warp's first, within the block
    const bool active = row < rows;

    load_async<threads>(q, a.Q.row(head, i), rows);                           // [4]
    if (tiles > 0) load_async<threads>(k, a.K.row(kv, 0), min(Bc, w.seq_k));  // [7]
    Accumulators<D> o;                                                        // [5]
    o.fill(0);
    float l = 0, m = -infinity;

    const auto step = [&]<bool whole>(int j) {
        const int keys = whole ? Bc : min(Bc, w.seq_k - j);
        wait_for_loads();                              // K_j is here, and V_(j-1) done with
        load_async<threads>(v, a.V.row(kv, j), keys);  // [7] while S is computed
        Operand<Bc> p;
        if (active) {
            Accumulators<Bc> s;
            score(s, q, k, row);  // [8]
            if (!whole) mask(s, w, i + row, j, keys);
            const float m_old = m;  // [9]
            m = fmaxf(m, reduce_rows(s, [](float x, float y) { return fmaxf(x, y); }));
            const float correction = exp2_of((m_old - finite(m)) * to_log2);
            exp_minus(s, m, to_log2, keys);
            l = correction * l + reduce_rows(s, [](float x, float y) { return x + y; });
            scale_rows(o, correction);  // [10]
            p = rounded<T>(s);
        }
        wait_for_loads();  // V_j is here, and K_j done with
        if (j + Bc < tiles * Bc)
            load_async<threads>(k, a.K.row(kv, j + Bc), min(Bc, w.seq_k - j - Bc));  // [7] while O is updated
        if (active) accumulate(o, p, v);                                             // [10]
    };
    const int seen_by_all = min(i + w.diagonal + 1, w.seq_k);  // keys that need no mask
    int j = 0;
    for (; j + Bc <= seen_by_all; j += Bc) step.template operator()<true>(j);  // [6]
    for (; j < tiles * Bc; j += Bc) step.template operator()<false>(j);
    wait_for_loads();  // [11]

    if (!active) return;
    scale_rows(o, inverse(l));                                                                  // [12]
    const float lse = l > 0 ? m * w.scale + logf(l) : -infinity;                                // [13]
    store(o, q, row, a.O.row(head, i + row), a.O.pitch, rows - row);                            // [14]
    if (row + kept_row_of_warp() < rows) *a.LSE.row(head, i + row + kept_row_of_warp()) = lse;  // [15]
}

template <class T>
void launch(const KernelCall& call) {
    const auto& t = call.tensors;
    const Args<T> args{Global<const T>(t["Q"]), Global<const T>(t["K"]), Global<const T>(t["V"]),
                       Global<T>(t["O"]),       Global<float>(t["LSE"]), Workload(call.problem)};
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        if constexpr (v.dtype == (std::is_same_v<T, __half> ? Dtype::f16 : Dtype::bf16)) {
            constexpr auto kernel = flash_v2_tensor_core_kernel<T, v.tile.br, v.tile.bc, v.dim>;
            enqueue("flash_v2", kernel, grid_of(ceil_div(call.problem.seq_q, v.tile.br), call.problem.batch_heads()),
                    v.threads, v.shared(), call.stream, args);
        }
    });
}

}  // namespace

void launch_tensor_cores(const KernelCall& call) {
    // The maximum is taken before scaling, which a negative scale would turn into a minimum.
    if (!(call.problem.logit_scale() > 0))
        throw UsageError("--scale: must be above 0 for the tensor-core kernel; try --scale 0.125");
    call.variant->dtype == Dtype::f16 ? launch<__half>(call) : launch<__nv_bfloat16>(call);
}

}  // namespace tilescope::flash_v2
