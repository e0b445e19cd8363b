// What is done to scores between the two products, besides the mask: soft-cap, biases, ALiBi and dropout.
#pragma once

#include "algorithms/cuda/fragments.cuh"

namespace tilescope::cuda {

/// No soft-cap, bias, ALiBi or dropout.
struct PlainScores : Plain {
    using Plain::Plain;
    /// Bytes of shared memory that finish() needs.
    static constexpr Bytes beside(Index /*bc*/) { return 0; }
    template <int threads, int Bc>
    __device__ void load(float* /*beside*/, int /*head*/, int /*key*/, int /*keys*/) const {}
    template <int Bc>
    __device__ void finish(Scores<Bc>&, const float* /*beside*/, int /*head*/, int /*row*/, int /*key*/,
                           int /*keys*/) const {}
    template <class P>
    __device__ void drop(const P&, int /*head*/, int /*row*/, int /*key*/) const {}
};

/// A bias that is added to the scores.
struct BiasArgs {
    const float* data = nullptr;
    std::int64_t slice_pitch = 0;
    int pitch = 0;  ///< 0 where all queries share one row

    BiasArgs() = default;
    BiasArgs(const DeviceTensor& t, const BiasTerm& term)
        : data(static_cast<const float*>(t.data)),
          slice_pitch(t.layout.slice),
          pitch(term.by_query ? static_cast<int>(t.layout.row) : 0) {}
};

/// Random words for dropout: Philox 4x32 of 7 rounds, with key and counter as core/machine/kept.hpp describes.
__device__ inline uint4 philox(uint2 key, uint4 c) {
#pragma unroll
    for (int round = 0; round < 7; ++round) {
        const unsigned a = __umulhi(0xd2511f53u, c.x), b = __umulhi(0xcd9e8d57u, c.z);
        c = {b ^ c.y ^ key.x, 0xcd9e8d57u * c.z, a ^ c.w ^ key.y, 0xd2511f53u * c.x};
        key.x += 0x9e3779b9u, key.y += 0xbb67ae85u;
    }
    return c;
}

struct Scored : Masked {
    float cap = 0;  ///< 0: none
    BiasArgs bias[2];
    uint2 seed;
    int threshold;
    float factor;  ///< dropout multiplies the weights that it keeps by this; 1: no dropout

    explicit Scored(const KernelCall& call) : Masked(call) {
        const Problem& p = call.problem;
        if (p.soft_cap) cap = static_cast<float>(*p.soft_cap);
        for (std::size_t k = 0; k < p.bias.terms.size(); ++k)
            bias[k] = {call.tensors[bias_tensors[k]], p.bias.terms[k]};
        seed = {static_cast<unsigned>(p.dropout.seed), static_cast<unsigned>(p.dropout.seed >> 32)};
        threshold = p.dropout.threshold(), factor = p.dropout.factor();
    }

    /// Bytes of shared memory: a row of each of two biases.
    static constexpr Bytes beside(Index bc) { return 4 * 2 * bc; }
    /// Starts to load the biases that have one row for all queries. An element of another bias is read by the thread
    /// that adds it.
    template <int threads, int Bc>
    __device__ void load(float* beside, int head, int key, int keys) const {
        for (int k = 0; k < 2; ++k)
            if (bias[k].data && bias[k].pitch == 0)
                load_async<threads>(SharedTile<1, Bc, ReadBy::rows>{beside + k * Bc}, bias_row(k, head) + key, 0, 1,
                                    keys);
    }
    /// Applies soft-cap, biases and ALiBi to the tile of scale Q K^T that begins at (row, key), before the mask. What
    /// load() began to load must have arrived.
    template <int Bc>
    __device__ void finish(Scores<Bc>& s, const float* beside, int head, int row, int key, int keys) const {
        if (cap > 0) each(s, [&](float& x, int, int) { x = cap * tanhf(x / cap); });
        for (int k = 0; k < 2; ++k)
            if (bias[k].pitch > 0)
                add(s, bias_row(k, head) + std::int64_t{row} * bias[k].pitch + key, bias[k].pitch, work.seq_q - row,
                    keys);
            else if (bias[k].data)
                each(s, [&](float& x, int, int c) { x += beside[k * Bc + c]; });
        if (!tables.slopes) return;
        const float slope = tables.slopes[head];
        const int distance = row + work.diagonal - key;
        each(s, [&](float& x, int r, int c) { x -= slope * static_cast<float>(abs(distance + r - c)); });
    }

    /// Dropout of the elements that this thread staged of the tile of P that begins at (row, key): dropped ones become
    /// 0, kept ones are multiplied by `factor`.
    template <int Br, int Bc>
    __device__ void drop(const SharedTile<Br, Bc, ReadBy::groups>& p, int head, int row, int key) const {
        if (factor == 1) return;
#pragma unroll 1  // unrolled, it would spill registers
        for (int i = 0; i < R; ++i) {
            const int r = first_row() + i;
            const int shift = 8 * ((row + r) % 16 / 8 * 2 + lane() % 2);
#pragma unroll 1
            for (int c = 0; c < Bc; c += 32) {  // this thread's columns are c + lane() and 16 more
                const uint4 words = philox(seed, {32u * head + (row + r) % 8 * 4 + lane() % 8 / 2, 0,
                                                  unsigned((row + r) / 16), unsigned((key + c) / 32)});
                const bool left = lane() < 8;
                keep(p.at(r, c + lane()), (left ? words.x : words.y) >> shift);
                keep(p.at(r, c + lane() + L), (left ? words.z : words.w) >> shift);
            }
        }
        __syncwarp();
    }

  private:
    /// Calls f(score, row, column) for each of this thread's scores of a tile.
    template <int Bc, class F>
    __device__ static void each(Scores<Bc>& s, F f) {
#pragma unroll
        for (int i = 0; i < R; ++i)
#pragma unroll
            for (int j = 0; j < Scores<Bc>::C; ++j) f(s.at[i][j], first_row() + i, Scores<Bc>::col(j));
    }
    __device__ const float* bias_row(int k, int head) const {
        return bias[k].data + tables.bias_slices[k][head] * bias[k].slice_pitch;
    }
    template <int Bc>
    __device__ static void add(Scores<Bc>& s, const float* from, int pitch, int rows, int keys) {
        each(s, [&](float& x, int r, int c) {
            if (r < rows && c < keys) x += load_past_l1(from + std::int64_t{r} * pitch + c);
        });
    }
    __device__ void keep(float& x, unsigned byte) const {
        x = static_cast<int>(byte & 0xff) <= threshold ? x * factor : 0.f;
    }
};

/// Whether the instance of variant `v` is compiled for `Logits`.
template <class Logits>
constexpr bool compiled_for(const KernelVariant& v) {
    return std::is_same_v<Logits, PlainScores> || v.takes == Takes::scores;
}

}  // namespace tilescope::cuda
