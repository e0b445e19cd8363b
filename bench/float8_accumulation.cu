// How tensor cores add: what becomes of products of 8 and 16 bits, and of the accumulator, within one instruction.
// First single questions, then models of the addition, which random inputs are compared with, bit for bit. Prints CSV;
// docs/measured/h200/forward/float8_accumulation.csv has it.
//     nvcc -std=c++20 -O3 -Xcompiler -fopenmp -gencode arch=compute_90a,code=sm_90a bench/float8_accumulation.cu \
//         -o float8_accumulation && ./float8_accumulation
// --sums N prints N sums of each type of 8 bits in place of that, each with all that goes in, as hexadecimal codes:
// float8_sums.csv beside it has some.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

void check(cudaError_t result) {
    if (result == cudaSuccess) return;
    std::fprintf(stderr, "float8_accumulation: %s\n", cudaGetErrorString(result));
    std::exit(1);
}

// ---- the instructions: D = A B + C, with A of 64 rows and B of 8 columns, 32 bytes of each along K ----

constexpr int rows = 64, columns = 8, words = 8;

struct Block {
    std::uint32_t a[rows][words], b[columns][words];
    float c[rows][columns];
};

#define WGMMA(name, shape, types, transposes)                                                                \
    struct name {                                                                                            \
        static constexpr const char* text = "wgmma " types;                                                  \
        __device__ static void apply(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&)[2], \
                                     std::uint64_t b) {                                                      \
            asm volatile(                                                                                    \
                "wgmma.fence.sync.aligned;\n{\n.reg .pred add;\nsetp.ne.b32 add, 1, 0;\n"                    \
                "wgmma.mma_async.sync.aligned." shape ".f32." types                                          \
                " {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, add, 1, 1" transposes                                    \
                ";\n}\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"                   \
                : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                             \
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                         \
                : "memory");                                                                                 \
        }                                                                                                    \
    }
WGMMA(WgmmaE4m3, "m64n8k32", "e4m3.e4m3", "");
WGMMA(WgmmaE5m2, "m64n8k32", "e5m2.e5m2", "");
WGMMA(WgmmaF16, "m64n8k16", "f16.f16", ", 0");
WGMMA(WgmmaBf16, "m64n8k16", "bf16.bf16", ", 0");
#undef WGMMA

#define MMA(name, shape, types)                                                                               \
    struct name {                                                                                             \
        static constexpr const char* text = "mma " types;                                                     \
        __device__ static void apply(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], \
                                     std::uint64_t) {                                                         \
            asm volatile("mma.sync.aligned." shape ".row.col.f32." types                                      \
                         ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                         \
                         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                     \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                 \
        }                                                                                                     \
    }
MMA(MmaE4m3, "m16n8k32", "e4m3.e4m3");
MMA(MmaF16, "m16n8k16", "f16.f16");
MMA(MmaBf16, "m16n8k16", "bf16.bf16");
#undef MMA

/// One block of 128 threads each. B lies in shared memory as 8 rows of 16 bytes, and 8 more: no swizzle.
template <class Unit>
__global__ void add(Block* blocks) {
    __shared__ __align__(128) std::uint32_t shared[2][columns][4];
    Block& block = blocks[blockIdx.x];
    const int t = threadIdx.x, lane = t % 32, g = lane / 4, q = lane % 4, row = t / 32 * 16 + g;
    if (t < 64) shared[t % words / 4][t / words][t % 4] = block.b[t / words][t % words];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    const std::uint64_t operand =
        std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32 | (address & 0x3ffff) >> 4;
    const std::uint32_t a[4] = {block.a[row][q], block.a[row + 8][q], block.a[row][q + 4], block.a[row + 8][q + 4]};
    const std::uint32_t b[2] = {block.b[g][q], block.b[g][q + 4]};
    float c[4];
    for (int e = 0; e < 4; ++e) c[e] = block.c[row + e / 2 * 8][2 * q + e % 2];
    Unit::apply(c, a, b, operand);
    for (int e = 0; e < 4; ++e) block.c[row + e / 2 * 8][2 * q + e % 2] = c[e];
}

template <class Unit>
void run(std::vector<Block>& blocks) {
    Block* on_device;
    const std::size_t bytes = blocks.size() * sizeof(Block);
    check(cudaMalloc(&on_device, bytes));
    check(cudaMemcpy(on_device, blocks.data(), bytes, cudaMemcpyHostToDevice));
    add<Unit><<<static_cast<unsigned>(blocks.size()), 128>>>(on_device);
    check(cudaMemcpy(blocks.data(), on_device, bytes, cudaMemcpyDeviceToHost));
    check(cudaFree(on_device));
}

// ---- numbers ----

/// x = mantissa 2^last; `exponent` is that of a normal number's leading bit, and the least one for a subnormal.
struct Number {
    std::int64_t mantissa = 0;
    int last = 0, exponent = 0;
};

struct Type {
    int bits, mantissa_bits, bias;

    int first_exponent() const { return 1 - bias; }
    Number number(std::uint32_t code) const {
        const std::uint32_t field = code >> mantissa_bits & ((1u << (bits - 1 - mantissa_bits)) - 1);
        const std::int64_t fraction = code & ((1u << mantissa_bits) - 1);
        const int exponent = field > 0 ? static_cast<int>(field) - bias : first_exponent();
        const std::int64_t m = (field > 0 ? std::int64_t{1} << mantissa_bits : 0) + fraction;
        return {code >> (bits - 1) & 1 ? -m : m, exponent - mantissa_bits, exponent};
    }
    /// Of a number that has one.
    std::uint32_t code(double x) const {
        const std::uint32_t sign = x < 0 ? 1u << (bits - 1) : 0;
        if (x == 0) return 0;
        const int e = std::max(std::ilogb(x), first_exponent());
        const auto m = static_cast<std::int64_t>(std::ldexp(std::abs(x), mantissa_bits - e));
        const std::int64_t one = std::int64_t{1} << mantissa_bits;
        return sign | static_cast<std::uint32_t>(m >= one ? ((e + bias) * one + m - one) : m);
    }
    bool finite(std::uint32_t code) const {
        const std::uint32_t magnitude = code & ((1u << (bits - 1)) - 1);
        if (bits == 8 && mantissa_bits == 3) return magnitude != 0x7f;
        return magnitude >> mantissa_bits != (1u << (bits - 1 - mantissa_bits)) - 1;
    }
    int per_word() const { return 32 / bits; }
    int k() const { return words * per_word(); }
};
constexpr Type e4m3{8, 3, 7}, e5m2{8, 2, 15}, f16{16, 10, 15}, bf16{16, 7, 127}, f32{32, 23, 127};

std::uint32_t code_of(const std::uint32_t (&line)[words], const Type& t, int k) {
    return line[k / t.per_word()] >> (k % t.per_word() * t.bits) & ((std::uint64_t{1} << t.bits) - 1);
}
void put(std::uint32_t (&line)[words], const Type& t, int k, std::uint32_t code) {
    line[k / t.per_word()] |= code << (k % t.per_word() * t.bits);
}

// ---- a model ----

enum class End { cut, cut_to_24, nearest_24 };

struct Model {
    int fraction;  ///< bits behind the point of the greatest exponent that addends keep
    int group;     ///< products that are added at once, together with what was added before
    bool pairs;    ///< groups take every second pair of neighbours, else they are neighbours
    bool floor;    ///< addends are cut towards minus infinity, else towards 0
    bool normal;   ///< a product's exponent is that of its leading bit, else the sum of the factors'
    bool zeros;    ///< a product of 0 has an exponent, too
    End end;       ///< the sum: cut to `fraction` bits behind its leading one, cut to 24 bits in all, or rounded to 24

    int place(int i, int k) const { return pairs ? i % (k / 2) / 2 * 4 + i / (k / 2) * 2 + i % 2 : i; }
};

int leading_bit(std::uint64_t x) { return 63 - __builtin_clzll(x); }

std::int64_t shifted(std::int64_t x, int left, bool floor) {
    if (left >= 0) return x << left;
    if (left < -62) return floor && x < 0 ? -1 : 0;
    if (floor) return x >> -left;
    const std::int64_t magnitude = (x < 0 ? -x : x) >> -left;
    return x < 0 ? -magnitude : magnitude;
}

float ended(std::int64_t sum, int last, const Model& m) {
    if (sum == 0) return 0;
    std::uint64_t magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    const int kept = m.end == End::cut ? std::min(24, m.fraction + 1) : 24, extra = leading_bit(magnitude) + 1 - kept;
    double value;
    if (m.end == End::nearest_24)
        value = static_cast<double>(static_cast<float>(std::ldexp(static_cast<double>(magnitude), last)));
    else
        value = std::ldexp(static_cast<double>(extra > 0 ? magnitude >> extra << extra : magnitude), last);
    return static_cast<float>(sum < 0 ? -value : value);
}

float modelled(const Model& m, const Type& t, const std::uint32_t (&a)[words], const std::uint32_t (&b)[words],
               float c) {
    for (int first = 0; first < t.k(); first += m.group) {
        Number all[65];
        int n = 0, greatest = -10000;
        for (int i = first; i < std::min(first + m.group, t.k()); ++i) {
            const int k = m.place(i, t.k());
            const Number x = t.number(code_of(a, t, k)), y = t.number(code_of(b, t, k));
            Number p{x.mantissa * y.mantissa, x.last + y.last, x.exponent + y.exponent};
            if (p.mantissa == 0 && !m.zeros) continue;
            if (m.normal && p.mantissa != 0) p.exponent = p.last + leading_bit(std::abs(p.mantissa));
            greatest = std::max(greatest, p.exponent);
            all[n++] = p;
        }
        std::uint32_t bits;
        std::memcpy(&bits, &c, sizeof bits);
        const Number before = f32.number(bits);
        if (before.mantissa != 0) greatest = std::max(greatest, before.exponent), all[n++] = before;
        std::int64_t sum = 0;
        const int last = greatest - m.fraction;
        for (int i = 0; i < n; ++i) sum += shifted(all[i].mantissa, all[i].last - last, m.floor);
        c = ended(sum, last, m);
    }
    return c;
}

// ---- questions ----

struct Term {
    double a, b;
};

/// One dot product in row 0 and column 0.
template <class Unit>
float dot(const Type& t, const std::vector<Term>& terms, float c) {
    std::vector<Block> blocks(1);
    std::memset(blocks.data(), 0, sizeof(Block));
    for (int k = 0; k < static_cast<int>(terms.size()); ++k) {
        put(blocks[0].a[0], t, k, t.code(terms[k].a));
        put(blocks[0].b[0], t, k, t.code(terms[k].b));
    }
    blocks[0].c[0][0] = c;
    run<Unit>(blocks);
    return blocks[0].c[0][0];
}

/// 2^-j as a product of two numbers of the type.
Term power(const Type& t, int j) {
    const int one = std::min(j / 2, t.mantissa_bits - t.first_exponent());
    return {std::ldexp(1.0, -one), std::ldexp(1.0, -(j - one))};
}
int most(const Type& t) { return std::min(40, 2 * (t.mantissa_bits - t.first_exponent())); }

template <class F>
void last_seen(const char* unit, const char* question, int limit, F different) {
    int j = -1;
    for (int i = 0; i <= limit; ++i)
        if (different(i)) j = i;
    if (j == limit)
        std::printf("%s,%s,%d or more\n", unit, question, j);
    else
        std::printf("%s,%s,%d\n", unit, question, j);
}

template <class Unit>
void ask(const Type& t) {
    const char* const u = Unit::text;
    const int limit = most(t);
    const auto with = [&](std::vector<Term> terms, float c = 0) { return dot<Unit>(t, terms, c); };
    const Term one{1, 1}, minus{-1, 1};
    const auto many = [&](int n, Term x, Term y) {
        std::vector<Term> terms(n, x);
        terms.push_back(y);
        return terms;
    };
    last_seen(u, "1 + 2^-j is not 1: greatest j", limit, [&](int j) { return with({one, power(t, j)}) != 1; });
    last_seen(u, "1 - 2^-j is not 1: greatest j", limit, [&](int j) {
        return with({one, {-power(t, j).a, power(t, j).b}}) != 1;
    });
    last_seen(u, "2^-j + 1 (the other way round) is not 1: greatest j", limit, [&](int j) {
        return with({power(t, j), one}) != 1;
    });
    last_seen(u, "1 + 1.5 2^-j is more than 1 + 2^-j: greatest j", limit, [&](int j) {
        const Term p = power(t, j);
        return with({one, {1.5 * p.a, p.b}}) > with({one, p});
    });
    last_seen(u, "1.5 x 1.5 + 2^-j is not 2.25: greatest j", limit, [&](int j) {
        return with({{1.5, 1.5}, power(t, j)}) != 2.25f;
    });
    last_seen(u, "C = 1 and a product 2^-j is not 1: greatest j", limit,
              [&](int j) { return with({power(t, j)}, 1) != 1; });
    last_seen(u, "C = 2^-j and a product 1 is not 1: greatest j", 40,
              [&](int j) { return with({one}, std::ldexp(1.f, -j)) != 1; });
    last_seen(u, "C = 1 + 2^-j and no product is not 1: greatest j", 23,
              [&](int j) { return with({}, 1 + std::ldexp(1.f, -j)) != 1; });
    const int k = t.k();
    last_seen(u, "1 + k - 1 times 2^-j is not 1: greatest j", limit, [&](int j) {
        std::vector<Term> terms(k - 1, power(t, j));
        terms.push_back(one);
        return with(terms) != 1;
    });
    last_seen(u, "k - 1 times 1 + 2^-j is not k - 1: greatest j", limit,
              [&](int j) { return with(many(k - 1, one, power(t, j))) != static_cast<float>(k - 1); });
    last_seen(u, "0 x 2 and 1 and 2^-j is not 1: greatest j", limit, [&](int j) {
        return with({{0, 2}, {2, 0}, one, power(t, j)}) != 1;
    });
    // 1 - 1 + 2^-limit: the small product survives where it is not added together with the others.
    std::string alone;
    for (int small = 2; small < k; ++small) {
        std::vector<Term> terms(k, Term{0, 0});
        terms[0] = one, terms[1] = minus, terms[small] = power(t, limit);
        if (with(terms) != 0) alone += ' ' + std::to_string(small);
    }
    std::printf("%s,1 - 1 + 2^-%d (1 at 0; -1 at 1; the small one at k) is not 0: k =,%s\n", u, limit,
                alone.empty() ? "none" : alone.c_str() + 1);
}

// ---- comparison ----

std::vector<Block> random_blocks(const Type& t, int n, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<Block> blocks(n);
    std::memset(blocks.data(), 0, blocks.size() * sizeof(Block));
    for (Block& block : blocks) {
        // Exponents of a block are within so many of each other, so that some blocks lose nothing, and some much.
        const int fields = 1 << (t.bits - 1 - t.mantissa_bits), middle = t.bias;
        const int spread = 1 + static_cast<int>(random() % std::min(fields / 2, 16)), zeros = random() % 8;
        const auto fill = [&](std::uint32_t(&line)[words]) {
            for (int k = 0; k < t.k(); ++k) {
                const int field = middle + static_cast<int>(random() % (2 * spread)) - spread;
                const auto e = static_cast<std::uint32_t>(std::clamp(field, 0, fields - 1));
                const std::uint32_t code = static_cast<std::uint32_t>(random() % 2) << (t.bits - 1) |
                                           e << t.mantissa_bits |
                                           static_cast<std::uint32_t>(random() % (1u << t.mantissa_bits));
                put(line, t, k, t.finite(code) && static_cast<int>(random() % 16) >= zeros ? code : 0);
            }
        };
        for (auto& line : block.a) fill(line);
        for (auto& line : block.b) fill(line);
        const bool added = random() % 4 > 0;
        for (auto& line : block.c)
            for (float& c : line) {
                const float fraction = 1 + static_cast<float>(random() % (1 << 23)) / (1 << 23);
                const int e = static_cast<int>(random() % static_cast<unsigned>(4 * spread)) - 2 * spread;
                c = added ? std::ldexp(random() % 2 ? fraction : -fraction, e) : 0;
            }
    }
    return blocks;
}

/// How many results a model has exactly.
long long equal(const Model& m, const Type& t, const std::vector<Block>& given, const std::vector<Block>& made) {
    long long n = 0;
#pragma omp parallel for reduction(+ : n)
    for (int i = 0; i < static_cast<int>(given.size()); ++i)
        for (int r = 0; r < rows; ++r)
            for (int j = 0; j < columns; ++j) {
                const float x = modelled(m, t, given[i].a[r], given[i].b[j], given[i].c[r][j]);
                n += x == made[i].c[r][j];
            }
    return n;
}

template <class Unit>
void compare(const Type& t) {
    std::vector<std::pair<long long, Model>> models;
    const auto few = random_blocks(t, 6, 1);
    auto made = few;
    run<Unit>(made);
    for (int fraction = 10; fraction <= 30; ++fraction)
        for (const int group : {t.k(), t.k() / 2, t.k() / 4, 4})
            for (int choice = 0; choice < 16; ++choice)
                for (const End end : {End::cut, End::cut_to_24, End::nearest_24}) {
                    const Model m{.fraction = fraction,
                                  .group = group,
                                  .pairs = (choice & 8) != 0,
                                  .floor = (choice & 1) != 0,
                                  .normal = (choice & 2) != 0,
                                  .zeros = (choice & 4) != 0,
                                  .end = end};
                    if (m.pairs && group == t.k()) continue;
                    models.emplace_back(equal(m, t, few, made), m);
                }
    std::stable_sort(models.begin(), models.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    const auto many = random_blocks(t, 2048, 2);
    made = many;
    run<Unit>(made);
    for (int rank = 0; rank < 6; ++rank) {
        const Model& m = models[rank].second;
        const long long n = equal(m, t, many, made), all = static_cast<long long>(many.size()) * rows * columns;
        const char* const ends[] = {"sum cut as addends", "sum cut to 24 bits", "sum rounded to 24 bits"};
        std::printf(
            "%s,model: %d bits behind the greatest exponent; %d products at once%s; addends cut towards %s; %s; %s;"
            " %s,%lld of %lld equal\n",
            Unit::text, m.fraction, m.group, m.pairs ? " (every second pair)" : "", m.floor ? "minus infinity" : "0",
            m.normal ? "exponent of the product" : "sum of exponents", m.zeros ? "zeros count" : "zeros left out",
            ends[static_cast<int>(m.end)], n, all);
    }
}

template <class Unit>
void study(const Type& t) {
    ask<Unit>(t);
    compare<Unit>(t);
    std::fflush(stdout);
}

/// A sum of each of n random blocks: A's row, B's column, C and D.
template <class Unit>
void print_sums(const Type& t, int n) {
    const auto given = random_blocks(t, n, 3);
    auto made = given;
    run<Unit>(made);
    for (int i = 0; i < n; ++i) {
        const int r = i * 7 % rows, j = i % columns;
        const auto print = [&](const std::uint32_t(&line)[words]) {
            for (int k = 0; k < t.k(); ++k) std::printf("%02x", code_of(line, t, k));
            std::printf(",");
        };
        const auto bits_of = [](float x) {
            std::uint32_t bits;
            std::memcpy(&bits, &x, sizeof bits);
            return bits;
        };
        std::printf("%s,", Unit::text);
        print(given[i].a[r]), print(given[i].b[j]);
        std::printf("%08x,%08x\n", bits_of(given[i].c[r][j]), bits_of(made[i].c[r][j]));
    }
}

}  // namespace

int main(int argc, char** argv) {
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    if (argc == 3 && std::string(argv[1]) == "--sums") {
        std::printf("# device: %s\nunit,a,b,c,sum\n", device.name);
        print_sums<WgmmaE4m3>(e4m3, std::atoi(argv[2]));
        print_sums<WgmmaE5m2>(e5m2, std::atoi(argv[2]));
        return 0;
    }
    std::printf("# device: %s\nunit,question,answer\n", device.name);
    study<WgmmaE4m3>(e4m3);
    study<WgmmaE5m2>(e5m2);
    study<WgmmaF16>(f16);
    study<WgmmaBf16>(bf16);
    study<MmaE4m3>(e4m3);
    study<MmaF16>(f16);
    study<MmaBf16>(bf16);
}
