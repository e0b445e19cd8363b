// FlashAttention-3 on the tensor cores of compute capability 9.0, in f16, bf16 and e4m3. New against flash_v2's
// kernel_tensor_cores.cu: lanes. Three warps are producers of one thread each, for Q, K and V; they ask for whole tiles
// (TMA) as long as slots are free. Warpgroups of 64 rows are consumers. They ask for products (wgmma) and take turns at
// that. A warpgroup finds the maxima of a step while the tensor cores add its P V of the step before, and computes the
// exponentials while they work for other warpgroups. Thread blocks are persistent, one an SM, but for a switch.
// Variants of the kernel differ in one of these choices (kernel.hpp).
// Bound by the tensor cores at d = 256, by them and the exponentials together at d = 64 and 128: expect the speed of
// cuDNN's kernel, less where sequences are short (docs/performance.md has what was measured).
// Run it: tilescope validate flash_v3 --seq 4096 --heads 64 --dim 128 --dtype f16
#include "algorithms/attention/flash_v3/kernel.hpp"
#include "algorithms/attention/flash_v3/kernel_eight_bits.cuh"
#include "algorithms/attention/flash_v3/kernel_rows.cuh"
#include "algorithms/cuda/hopper.cuh"
#include "algorithms/cuda/seen.cuh"
#include "algorithms/cuda/tensor_core_statistics.cuh"
#include "algorithms/cuda/wgmma.cuh"

namespace tilescope::flash_v3 {
namespace {

using namespace cuda;

template <Dtype dtype>
struct Types {  ///< `In`: of Q, K, V and P; `Out`: of O
    using In = std::conditional_t<dtype == Dtype::f16, __half, __nv_bfloat16>;
    using Out = In;
};
template <>
struct Types<Dtype::e4m3> {
    using In = __nv_fp8_e4m3;
    using Out = __nv_bfloat16;
};

/// What the kernel of a variant is compiled for.
template <std::size_t I>
struct Shape {
    static constexpr KernelVariant v = kernels[I];
    using T = Types<v.dtype>::In;
    using Out = Types<v.dtype>::Out;
    static constexpr bool eight_bits = sizeof(T) == 1;                                         // then producers turn V
    static constexpr int D = v.dim, Br = v.tile.br, Bc = v.tile.bc, slots = v.tile.slots / 2;  // of K, and of V
    static constexpr bool turns = v.tile.turns == on, overlap = v.tile.overlap == on;
    static constexpr bool persistent = v.tile.persistent == dealt_in_pairs;
    static constexpr bool specialised = v.tile.specialised == on;  // else the consumers load for themselves
    static constexpr int cluster = v.tile.cluster;                 // thread blocks that share each tile of K and V
    static constexpr bool rescales_first = overlap && D > 128;     // O is scaled under the products of the next step
    static constexpr int consumers = Br / 64, threads = v.threads;
    // All that a thread block has at launch, and no more: else take_registers() would wait forever.
    static constexpr int of_consumer = consumers == 2 ? eight_bits ? 232 : 240
                                       : eight_bits   ? 152
                                                      : 160,
                         of_producer = consumers == 2 ? eight_bits ? 40 : 24
                                       : eight_bits   ? 56
                                                      : 32;
    static constexpr int row_bytes = D * sizeof(T) < row_of_panel ? D * sizeof(T) : row_of_panel;
    static constexpr int panel_columns = row_bytes / sizeof(T), panels = D / panel_columns;
    static constexpr int q_panel = 64 * row_bytes, kv_panel = Bc * row_bytes;
    static constexpr int q_bytes = panels * q_panel, kv_bytes = panels * kv_panel;
    static constexpr int products_of_row = D * sizeof(T) / row_of_product;   // of Q K^T
    static constexpr int products_of_sum = Bc * sizeof(T) / row_of_product;  // of P V
};

template <class S>
struct Args {
    CUtensorMap Q, K, V;
    Global<typename S::Out> O;
    Global<float> LSE;
    [[no_unique_address]] Scales<S::eight_bits> scales;
    Plain seen;
    int heads;
    bool paired;  ///< see for_row_tiles()
};

/// What a thread block has in shared memory: of 8 bits V^T, too.
template <class S, bool = S::eight_bits>
struct Turned {};
template <class S>
struct Turned<S, true> {
    alignas(1024) unsigned char vt[S::slots][Turner<S::Bc, S::D>::bytes];
    Slots<S::slots> of_vt;
};
template <class S>
struct Shared : Turned<S> {
    alignas(1024) unsigned char q[S::consumers][S::q_bytes];  // aligned for the swizzle
    alignas(1024) unsigned char k[S::slots][S::kv_bytes], v[S::slots][S::kv_bytes];
    Slots<1> of_q[S::consumers];
    Slots<S::slots> of_k, of_v;
};

struct RowTile {
    int head, row;
    Visits visits;
};

/// Calls f(tile) for each row tile of this thread block [1]: one, where there are as many thread blocks. Where the
/// causal mask makes some shorter, a long one and a short one are a pair, and pairs are dealt out. Heads come one after
/// the other, so that the L2 keeps their K and V. A cluster takes neighbouring row tiles as one: its thread blocks
/// visit what any of their rows sees, because each loads a part for all.
template <class S, class F>
__device__ inline void for_row_tiles(const Args<S>& a, F f) {
    constexpr int of_cluster = S::cluster * S::Br;
    const int own_row = S::cluster > 1 ? rank_in_cluster() * S::Br : 0;
    const int blocks = gridDim.x / S::cluster, row_tiles = (a.seen.work.seq_q + of_cluster - 1) / of_cluster;
    const int of_head = a.paired ? (row_tiles + 1) / 2 : row_tiles, all = of_head * a.heads;
    for (int round = 0; round * blocks < all; ++round) {
        // An odd number of row tiles leaves one without a partner, so some pairs are half as long. Each round begins at
        // the next SM, so that no SM gets all of these.
        const int n = round * blocks + (blockIdx.x / S::cluster + round) % blocks;
        if (n >= all) continue;
        const int head = n / of_head, last = row_tiles - 1 - n % of_head, first = row_tiles - 1 - last;
        for (int i = last;; i = first) {
            const int row = i * of_cluster, rows = min(of_cluster, a.seen.work.seq_q - row);
            f(RowTile{head, row + own_row, a.seen.visits(row, rows, of_cluster, S::Bc)});
            if (!a.paired || i == first) break;
        }
    }
}

/// Starts to load the 64 rows of Q of warpgroup w.
template <class S>
__device__ inline void load_query(const Args<S>& a, Shared<S>& shared, const RowTile& tile, int w) {
    Barrier& there = shared.of_q[w].there[0];
    there.expect(S::q_bytes);
    for (int p = 0; p < S::panels; ++p)
        copy_box(shared.q[w] + p * S::q_panel, a.Q, p * S::panel_columns, tile.row + 64 * w, tile.head, there);
}

/// The producer of Q [3].
template <class S>
__device__ inline void load_queries(const Args<S>& a, Shared<S>& shared) {
    unsigned parity = 0;
    for_row_tiles<S>(a, [&](const RowTile& tile) {
        if (tile.visits.end == 0) return;
        for (int w = 0; w < S::consumers; ++w) {
            shared.of_q[w].free[0].wait(parity ^ 1);
            load_query(a, shared, tile, w);
        }
        parity ^= 1;
    });
}

/// Starts to load a tile of K or V. Thread blocks of a cluster load a part of its rows each, for all.
template <class S>
__device__ inline void load_tile(unsigned char* to, const CUtensorMap& from, int row, int slice, Barrier& there) {
    there.expect(S::kv_bytes);
    if constexpr (S::cluster == 1) {
        for (int p = 0; p < S::panels; ++p)
            copy_box(to + p * S::kv_panel, from, p * S::panel_columns, row, slice, there);
    } else {
        const int own = rank_in_cluster() * S::Bc / S::cluster;
        for (int p = 0; p < S::panels; ++p)
            copy_box_to_all<S::cluster>(to + p * S::kv_panel + own * S::row_bytes, from, p * S::panel_columns,
                                        row + own, slice, there);
    }
}

/// The producer of K [5], or of V [6].
template <class S>
__device__ inline void load_keys(const Args<S>& a, const CUtensorMap& from, unsigned char (&to)[S::slots][S::kv_bytes],
                                 Slots<S::slots>& ring) {
    Place<S::slots> at;
    for_row_tiles<S>(a, [&](const RowTile& tile) {
        const int kv = a.seen.work.kv_slice(tile.head);
        for (int j = 0; j < tile.visits.end; ++j, at.next()) {  // [4]
            ring.free[at.slot].wait(at.parity ^ 1);
            load_tile<S>(to[at.slot], from, j * S::Bc, kv, ring.there[at.slot]);
        }
    });
}

/// Loads without a producer. In each step all warpgroups meet. Then none reads K_(j-1) and V_(j-2) any more, and one
/// thread asks for what their slots hold next. At the beginning of a row tile all wait for its first loads.
template <class S>
struct OwnLoads {
    static_assert(S::specialised || (S::slots == 2 && S::cluster == 1 && !S::turns));
    Place<S::slots> k = {}, v = {};

    __device__ void meet(const Args<S>& a, Shared<S>& shared, const RowTile& tile, int j) {
        __syncthreads();
        if (threadIdx.x > 0) return;
        if (j == 0) {
            for (int w = 0; w < S::consumers; ++w) load_query(a, shared, tile, w);
            load(a, a.K, shared.k, shared.of_k, k, tile, j);
        }
        if (j + 1 < tile.visits.end) load(a, a.K, shared.k, shared.of_k, k, tile, j + 1);
        load(a, a.V, shared.v, shared.of_v, v, tile, j);
    }

  private:
    __device__ void load(const Args<S>& a, const CUtensorMap& from, unsigned char (&to)[S::slots][S::kv_bytes],
                         Slots<S::slots>& ring, Place<S::slots>& at, const RowTile& tile, int j) {
        load_tile<S>(to[at.slot], from, j * S::Bc, a.seen.work.kv_slice(tile.head), ring.there[at.slot]);
        at.next();
    }
};

/// What consumers read as V: the slots that it came into, or, in 8 bits, those that it was turned into.
template <class S>
__device__ inline Slots<S::slots>& values(Shared<S>& shared) {
    if constexpr (S::eight_bits)
        return shared.of_vt;
    else
        return shared.of_v;
}
template <class S>
__device__ inline const unsigned char* tile_of_values(const Shared<S>& shared, int slot) {
    if constexpr (S::eight_bits)
        return shared.vt[slot];
    else
        return shared.v[slot];
}

/// The four warps that produce Q, K and V, and turn V. Before a tile of V is turned, the next one and its K are asked
/// for, so that copies come in the meantime.
template <class S>
__device__ inline void load_and_turn(const Args<S>& a, Shared<S>& shared, int warp) {
    const bool asks = threadIdx.x % 32 == 0;
    const Turner<S::Bc, S::D> turner(warp);
    Place<S::slots> at;
    unsigned of_q = 1;
    bool one_is_left = false;
    const auto turn = [&](Place<S::slots> from) {
        __syncwarp();
        shared.of_v.there[from.slot].wait(from.parity);
        shared.of_vt.free[from.slot].wait(from.parity ^ 1);
        turner.turn(shared.v[from.slot], shared.vt[from.slot]);
        show_to_products();
        __syncwarp();
        if (asks) shared.of_vt.there[from.slot].arrive(), shared.of_v.free[from.slot].arrive();
    };
    for_row_tiles<S>(a, [&](const RowTile& tile) {
        if (tile.visits.end == 0) return;
        for (int j = 0; j < tile.visits.end; ++j, at.next()) {
            if (warp == 0 && asks) {
                shared.of_k.free[at.slot].wait(at.parity ^ 1);
                load_tile<S>(shared.k[at.slot], a.K, j * S::Bc, a.seen.work.kv_slice(tile.head),
                             shared.of_k.there[at.slot]);
            }
            if (warp == 1 && asks) {
                shared.of_v.free[at.slot].wait(at.parity ^ 1);
                load_tile<S>(shared.v[at.slot], a.V, j * S::Bc, a.seen.work.kv_slice(tile.head),
                             shared.of_v.there[at.slot]);
            }
            if (one_is_left) turn(at.before());
            one_is_left = true;
            if (j == 0 && warp == 2 && asks) {  // not before the last V of the tile before, for which consumers wait
                for (int w = 0; w < S::consumers; ++w) {
                    shared.of_q[w].free[0].wait(of_q);
                    load_query(a, shared, tile, w);
                }
                of_q ^= 1;
            }
        }
    });
    if (one_is_left) turn(at.before());
}

/// Asks for S = Q K^T.
template <class S>
__device__ inline void ask_for_scores(float (&s)[S::Bc / 2], const unsigned char* q, const unsigned char* k) {
    const std::uint64_t a = operand<S::row_bytes>(shared_address(q), S::q_panel),
                        b = operand<S::row_bytes>(shared_address(k), S::kv_panel);
    begin_products();
#pragma unroll
    for (int c = 0; c < S::products_of_row; ++c) {
        const int panel = c * row_of_product / S::row_bytes, in_panel = c * row_of_product % S::row_bytes;
        Wgmma<S::Bc>::template scores<typename S::T>(s, a + address_bits(panel * S::q_panel + in_panel),
                                                     b + address_bits(panel * S::kv_panel + in_panel), c > 0);
    }
    end_products();
}

/// Asks for O += P V. `v` is V, or, in 8 bits, V^T.
template <class S>
__device__ inline void ask_for_sums(float (&o)[S::D / 2], const unsigned (&p)[S::products_of_sum][4],
                                    const unsigned char* v) {
    constexpr int row = row_of_product, in_panel = row_of_panel / row;
    const std::uint64_t b = operand(shared_address(v), S::kv_panel);
    pin(o);
    begin_products();
#pragma unroll
    for (int c = 0; c < S::products_of_sum; ++c) {
        const int at = S::eight_bits ? c / in_panel * Turner<S::Bc, S::D>::panel + c % in_panel * row  // 32 columns
                                     : 16 * c * row_of_panel;                                          // 16 rows
        Wgmma<S::D>::template sums<typename S::T>(o, p[c], b + address_bits(at));
    }
    end_products();
}

/// A warpgroup of consumers [8].
template <class S>
__device__ inline void consume(const Args<S>& a, Shared<S>& shared, int group) {
    constexpr int first_barrier = 1;  // named barriers from here on, one a warpgroup's turn
    const int next_group = (group + 1) % S::consumers;
    const Workload& w = a.seen.work;
    const int own_row = 64 * group + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4, own_column = 2 * quad_lane();
    const int lane_of_warp = threadIdx.x % 32;  // the first lanes speak for their warp
    Place<1> of_q;
    Place<S::slots> of_k, of_v;
    OwnLoads<S> own_loads;  // where there is no producer
    const auto free = [&](auto& ring, auto& place) {
        if (S::specialised && lane_of_warp == 0) ring.free[place.slot].arrive();
        place.next();
    };
    Slots<S::slots>& of_values = values(shared);
    const auto free_tile = [&](Slots<S::slots>& ring, Place<S::slots>& place) {  // of K or V
        if constexpr (S::cluster == 1) return free(ring, place);
        if (lane_of_warp < S::cluster) arrive_at(lane_of_warp, ring.free[place.slot]);  // each block loads for all
        place.next();
    };
    if (S::turns && next_group == 0) hand_over(first_barrier);  // the first turn is the first warpgroup's

    for_row_tiles<S>(a, [&](const RowTile& tile) {
        const Visits& visits = tile.visits;
        const int row = tile.row + own_row, kv = w.kv_slice(tile.head);
        const float scale = w.scale * a.scales.of_scores(kv), to_log2 = scale * 1.44269504f;
        float o[S::D / 2], s[S::Bc / 2];  // [9]
        unsigned p[S::products_of_sum][4];
        Rows rows;
#pragma unroll
        for (float& x : o) x = 0;

        const auto scores = [&] {  // [11]
            ask_for_scores<S>(s, shared.q[group], shared.k[of_k.slot]);
        };
        const auto sums = [&] {  // [12]
            of_values.there[of_v.slot].wait(of_v.parity);
            ask_for_sums<S>(o, p, tile_of_values(shared, of_v.slot));
        };
        const auto mask = [&](int j) {
            const int first = j * S::Bc + own_column, seen = row + w.diagonal + 1;
            hide(s, {min(seen, w.seq_k) - first, min(seen + 8, w.seq_k) - first});
        };
        const auto wait_for_sums = [&] {
            wait_for_products<0>(o);
            free_tile(of_values, of_v);
        };
        // S and m are without the scale, which exponentials() multiplies with.
        const auto step = [&]<bool whole>(int j) {  // [10]
            if constexpr (!S::specialised) own_loads.meet(a, shared, tile, j);
            if constexpr (!S::overlap) {
                if constexpr (S::turns) take_turn(first_barrier + group);
                sums();
                wait_for_sums();
            }
            shared.of_k.there[of_k.slot].wait(of_k.parity);
            if constexpr (S::turns && S::overlap) take_turn(first_barrier + group);
            scores();
            if constexpr (S::rescales_first) scale_rows(o, rows.factor);
            if constexpr (S::overlap) sums();
            if constexpr (S::turns) hand_over(first_barrier + next_group);
            wait_for_products<S::overlap ? 1 : 0>(s);
            free_tile(shared.of_k, of_k);
            if constexpr (!whole) mask(j);
            update_maxima<S::eight_bits>(s, rows, to_log2);
            // [14] P V has to be done before P is rounded and O rescaled. Once the maxima are known, it nearly always
            // is. A wait here frees V's slot before the exponentials, under which other warpgroups' products run.
            if constexpr (S::overlap) wait_for_sums();
            exponentials(s, rows, to_log2);
            round_to<typename S::T>(
                p, s);  // [14], and O, which beyond d = 128 waits until the next products are asked for
            // In 8 bits there are fewer products to compute under. In long rows maxima seldom change, and O stays.
            const bool stays = S::eight_bits && __all_sync(~0u, rows.factor[0] == 1 && rows.factor[1] == 1);
            if (!S::rescales_first && !stays) scale_rows(o, rows.factor);
        };

        float of_one_value = 1;
        if (visits.end > 0) {  // the first step has no P V [11, 13, 14], and takes no turn
            if constexpr (!S::specialised) own_loads.meet(a, shared, tile, 0);
            shared.of_q[group].there[0].wait(of_q.parity);
            shared.of_k.there[of_k.slot].wait(of_k.parity);
            scores();
            wait_for_products<0>(s);
            free_tile(shared.of_k, of_k);
            if (visits.whole == 0) mask(0);
            update_maxima<S::eight_bits>(s, rows, to_log2);
            exponentials(s, rows, to_log2);
            round_to<typename S::T>(p, s);
            int j = 1;
            for (; j < visits.whole; ++j) step.template operator()<true>(j);
            for (; j < visits.end; ++j) step.template operator()<false>(j);  // [15]
            free(shared.of_q[group], of_q);
            if constexpr (S::rescales_first) scale_rows(o, rows.factor);
            of_one_value = a.scales.of_values(kv);
            sums();  // [16]
            wait_for_sums();
        }

        float factor[2];  // [17]
        bool exists[2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const float l = sum_of_quad(rows.l[r]);
            factor[r] = inverse(l) * of_one_value;
            exists[r] = row + 8 * r < w.seq_q;
            if (exists[r] && own_column == 0)
                *a.LSE.row(tile.head, row + 8 * r) = l > 0 ? rows.m[r] * scale + logf(l) : -infinity;
        }
        scale_rows(o, factor);
#pragma unroll
        for (int r = 0; r < 2; ++r) store_row(o, r, a.O.row(tile.head, row + 8 * r), exists[r]);  // [18]
    });                                                                                           // [19]
}

template <class S>
__global__ void __launch_bounds__(S::threads, 1) flash_v3_kernel(const __grid_constant__ Args<S> a) {
    extern __shared__ __align__(1024) unsigned char memory[];
    Shared<S>& shared = *reinterpret_cast<Shared<S>*>(memory);
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    if (threadIdx.x == 0) {
        prefetch(a.Q), prefetch(a.K), prefetch(a.V);
        for (Slots<1>& ring : shared.of_q) ring.init(4);  // a warpgroup reads its own Q
        constexpr int reading_warps = 4 * S::consumers * S::cluster;
        shared.of_k.init(reading_warps);
        if constexpr (S::eight_bits)
            shared.of_v.init(4), shared.of_vt.init(reading_warps, 4);
        else
            shared.of_v.init(reading_warps);
        barriers_are_ready();
    }
    if constexpr (S::cluster == 1)
        __syncthreads();
    else
        meet_cluster();
    if (S::specialised && warp < 4) {
        give_back_registers<S::of_producer>();  // [2]
        if constexpr (S::eight_bits) return load_and_turn(a, shared, warp);
        if (threadIdx.x % 32 > 0) return;
        if (warp == 0) load_queries(a, shared);
        if (warp == 1) load_keys<S>(a, a.K, shared.k, shared.of_k);
        if (warp == 2) load_keys<S>(a, a.V, shared.v, shared.of_v);
    } else {
        if (S::specialised) take_registers<S::of_consumer>();
        consume(a, shared, warp / 4 - (S::specialised ? 1 : 0));
    }
    if constexpr (S::cluster > 1)
        meet_cluster();  // shared memory that others may still reach ends with the thread block
}

// ---- launching ----

template <class S>
void launch(const KernelCall& call) {
    static_assert(sizeof(Shared<S>) == S::v.shared());
    const Problem& p = call.problem;
    const auto map = [&](const char* name, Index slices, Index rows, Index box_rows) {
        return tensor_map(call.tensors[name], p.dtype, slices, rows, S::D, box_rows, S::panel_columns);
    };
    const Index tiles = ceil_div(p.seq_q, Index{S::cluster * S::Br}) * p.batch_heads();  // of a cluster
    const Index clusters = S::persistent ? std::min<Index>(tiles, sms() / S::cluster) : tiles;
    const Plain seen(call);
    constexpr Index part = S::Bc / S::cluster;  // rows of K and V in a box
    const Args<S> args{.Q = map("Q", p.batch_heads(), p.seq_q, 64),
                       .K = map("K", p.kv_slices(), p.seq_k, part),
                       .V = map("V", p.kv_slices(), p.seq_k, part),
                       .O = Global<typename S::Out>(call.tensors["O"]),
                       .LSE = Global<float>(call.tensors["LSE"]),
                       .scales = Scales<S::eight_bits>(call),
                       .seen = seen,
                       .heads = static_cast<int>(p.batch_heads()),
                       .paired = in_pairs(p, S::v.tile) && tiles > clusters};
    if constexpr (S::cluster == 1)
        enqueue("flash_v3", flash_v3_kernel<S>, dim3(static_cast<unsigned>(clusters)), S::threads, sizeof(Shared<S>),
                call.stream, args);
    else
        enqueue_clusters("flash_v3", flash_v3_kernel<S>, S::cluster, S::cluster * clusters, S::threads,
                         sizeof(Shared<S>), call.stream, args);
}

}  // namespace

void launch_sm90a(const KernelCall& call) {
    require_positive_scale(call.problem);
    dispatch<kernels>(call, [&]<std::size_t I>() { launch<Shape<I>>(call); });
}

}  // namespace tilescope::flash_v3
