// Three witnesses for every count: the folded run, predict(), and the papers' formulas typed here once more over sums
// that are counted tile by tile.
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "lab/run/experiment.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

struct Elements {
    Count read = 0, write = 0;
};

/// What one head moves, in elements, and what it computes.
struct Head {
    std::map<std::string, Elements> tensors;
    Count read, write;  ///< the paper's own sums over all tensors
    Count matmul, exps, other;
};

/// The letters of the formulas. Tr, Tc: tiles of rows and of keys. Summed over the tiles that hold a visible pair: U,
/// their rows; Kt, their keys; E, their scores. Ka: keys of the key tiles that hold a visible pair with any row; A:
/// rows of the row tiles that see any key.
struct Letters {
    Index Nq, Nk, d, dv, N, Tr, Tc, U = 0, Kt = 0, Ka = 0, E = 0, A = 0;

    explicit Letters(const Case& c)
        : Nq(c.problem.seq_q), Nk(c.problem.seq_k), d(c.problem.dim), dv(c.problem.dim_v), N(Nq * Nk) {
        const Index br = c.tiling.br, bc = c.tiling.bc;
        Tr = (Nq + br - 1) / br, Tc = (Nk + bc - 1) / bc;
        if (!c.problem.mask.hides()) {
            U = Tc * Nq, Kt = Tr * Nk, Ka = Nk, E = N, A = Nq;
            return;
        }
        std::set<Index> columns;
        for (Index first = 0; first < Nq; first += br) {
            const Index rows = std::min(br, Nq - first), last_row = first + rows - 1;
            for (Index key = 0; key < Nk && key <= last_row + first_place(c.problem); key += bc) {
                const Index keys = std::min(bc, Nk - key);
                U += rows, Kt += keys, E += rows * keys;
                if (columns.insert(key).second) Ka += keys;
                if (key == 0) A += rows;
            }
        }
    }
};

bool fits_a_row(const Case& c, const GpuSpec& gpu) { return gpu.registers_per_sm >= 4 * (c.problem.seq_k + 2); }

/// Three launches. The softmax reads S once where a whole row fits on chip, else once per pass.
Head standard(const Letters& x, const Case& c, const GpuSpec& gpu) {
    const bool safe = c.problem.softmax == Softmax::safe, row = fits_a_row(c, gpu);
    const Index Nq = x.Nq, Nk = x.Nk, d = x.d, dv = x.dv, N = x.N, passes = row ? 1 : safe ? 3 : 2;
    Head h{{{"Q", {x.Tc * Nq * d, 0}},
            {"K", {x.Tr * Nk * d, 0}},
            {"V", {x.Tr * Nk * dv, 0}},
            {"O", {0, Nq * dv}},
            {"S", {passes * N, N}},
            {"P", {N, N}}},
           x.Tc * Nq * d + x.Tr * Nk * (d + dv) + (passes + 1) * N,
           2 * N + Nq * dv,
           2 * N * (d + dv),
           row ? N : 2 * N,
           4 * N - 2 * Nq};
    if (safe && !row) h.other = 5 * N - 2 * Nq;
    if (!safe) h.other = 2 * N - Nq;
    return h;
}

/// FlashAttention, Algorithm 1.
Head flash_v1(const Letters& x, const Case&, const GpuSpec&) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, E, A] = x;
    return {{{"Q", {U * d, 0}},
             {"K", {Ka * d, 0}},
             {"V", {Ka * dv, 0}},
             {"O", {U * dv, (Nq + U) * dv}},
             {"l", {U, Nq + U}},
             {"m", {U, Nq + U}}},
            Ka * (d + dv) + U * (d + dv + 2),
            Nq * (dv + 2) + U * (dv + 2),
            2 * E * (d + dv),
            E + 2 * U,
            3 * E + U * (7 + 3 * dv)};
}

/// FlashAttention-2, Algorithm 1.
Head flash_v2(const Letters& x, const Case&, const GpuSpec&) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, E, A] = x;
    return {{{"Q", {Nq * d, 0}}, {"K", {Kt * d, 0}}, {"V", {Kt * dv, 0}}, {"O", {0, Nq * dv}}, {"LSE", {0, Nq}}},
            Nq * d + Kt * (d + dv),
            Nq * (dv + 1),
            2 * E * (d + dv),
            E + U,
            3 * E + U * (2 + dv) + Nq * (dv + 2)};
}

/// The xformers kernel: FlashAttention-2 with Q read for every tile and no LSE. Beyond 128 columns O goes to HBM and
/// back between two tiles of a row. The first tile rescales nothing, and rows without keys are not divided.
Head memory_efficient(const Letters& x, const Case& c, const GpuSpec&) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, E, A] = x;
    const bool kept = dv <= 128;
    const Index moved = kept ? 0 : (U - A) * dv;
    Head h{{{"Q", {U * d, 0}}, {"K", {Kt * d, 0}}, {"V", {Kt * dv, 0}}, {"O", {0, Nq * dv}}},
           U * d + Kt * (d + dv) + moved,
           Nq * dv + moved,
           2 * E * (d + dv),
           E + U,
           3 * E + U * 2 + (kept ? U * dv + Nq * dv : (U - A) * dv + A * dv)};
    if (kept) return h;
    if (c.problem.dtype == Dtype::f32)
        h.tensors["O"] = {moved, Nq * dv + moved};
    else
        h.tensors["O_acc"] = {moved, moved};
    return h;
}

/// Online softmax: the statistics in a first pass, the output in a second.
Head two_pass(const Letters& x, const Case&, const GpuSpec&) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, E, A] = x;
    return {{{"Q", {Nq * d, 0}}, {"K", {2 * Kt * d, 0}}, {"V", {Kt * dv, 0}}, {"O", {0, Nq * dv}}},
            Nq * d + Kt * (2 * d + dv),
            Nq * dv,
            2 * E * (2 * d + dv),
            2 * E + U,
            5 * E + 2 * U};  // max, sub, add | sub, div; and a subtraction and a product for each correction
}

/// One pass each for maximum, denominator and output.
Head three_pass(const Letters& x, const Case&, const GpuSpec&) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, E, A] = x;
    return {{{"Q", {Nq * d, 0}}, {"K", {3 * Kt * d, 0}}, {"V", {Kt * dv, 0}}, {"O", {0, Nq * dv}}},
            Nq * d + Kt * (3 * d + dv),
            Nq * dv,
            2 * E * (3 * d + dv),
            2 * E,
            5 * E};  // max | sub, add | sub, div
}

/// Rabe & Staats, Figure 1.
Head chunked(const Letters& x, const Case&, const GpuSpec&) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, E, A] = x;
    return {{{"Q", {Nq * d, 0}},
             {"K", {Kt * d, 0}},
             {"V", {Kt * dv, 0}},
             {"O", {0, Nq * dv}},
             {"m_j", {U, U}},
             {"s_j", {U, U}},
             {"v_j", {U * dv, U * dv}}},
            Nq * d + Kt * (d + dv) + U * (dv + 2),
            U * (dv + 2) + Nq * dv,
            2 * E * (d + dv),
            E + U,
            // A summary: max E - U, sub E, add E - U, and one comparison for M. Combining: sub, product and sum for s;
            // product and sum for each column of v. One division for each output.
            3 * E - 2 * U + U + U * (3 + 2 * dv) + Nq * dv};
}

/// Flash-Decoding: FlashAttention-2 on parts of p = ceil(Tc / S) key blocks, then one softmax over the parts. QA: the
/// rows of Q that are read: of each row block, once for every part of which it sees a key.
Head split_kv(const Letters& x, const Case& c, const GpuSpec&) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, E, A] = x;
    const Index S = std::max<Index>(1, c.tiling.splits), p = (Tc + S - 1) / S;
    // Without a mask all rows count as one row block.
    const bool hides = c.problem.mask.hides();
    const Index height = hides ? c.tiling.br : Nq;
    Index QA = 0;
    for (Index first = 0; first < Nq; first += height) {
        const Index rows = std::min(height, Nq - first);
        Index before = -1;
        for (Index j = 0; j < Tc && (!hides || j * c.tiling.bc <= first + rows - 1 + first_place(c.problem)); ++j)
            if (j / p != std::exchange(before, j / p)) QA += rows;
    }
    if (S == 1)  // FlashAttention-2, but row blocks that see nothing read nothing
        return {{{"Q", {QA * d, 0}}, {"K", {Kt * d, 0}}, {"V", {Kt * dv, 0}}, {"O", {0, Nq * dv}}, {"LSE", {0, Nq}}},
                QA * d + Kt * (d + dv),
                Nq * dv + Nq,
                2 * E * (d + dv),
                E + U,
                3 * E + U * (2 + dv) + QA * (dv + 2)};
    return {{{"Q", {QA * d, 0}},
             {"K", {Kt * d, 0}},
             {"V", {Kt * dv, 0}},
             {"O", {0, Nq * dv}},
             {"LSE", {0, Nq}},
             {"O_s", {S * Nq * dv, S * Nq * dv}},
             {"LSE_s", {S * Nq, S * Nq}}},
            QA * d + Kt * (d + dv) + S * Nq * (dv + 1),
            S * Nq * (dv + 1) + Nq * dv + Nq,
            2 * E * (d + dv),
            E + U + S * Nq,
            // FlashAttention-2 for each part. Combining a row: max S - 1, sub S, sum S - 1, log and sum 2, division S;
            // for each column of O, S products and S - 1 sums.
            3 * E + U * (2 + dv) + QA * (dv + 2) + Nq * (4 * S + 2 * S * dv - dv)};
}

/// Online normalizer calculation for softmax, Algorithms 1 to 3, for Nq rows of Nk elements.
Head softmax(const Letters& x, Count passes, Count exps, Count other) {
    return {{{"X", {passes * x.N, 0}}, {"Y", {0, x.N}}}, passes * x.N, x.N, 0, exps, other};
}
Head softmax_naive(const Letters& x, const Case&, const GpuSpec&) {
    return softmax(x, 2, 2 * x.N, x.Nq * (x.Nk - 1) + x.N);
}
Head softmax_safe(const Letters& x, const Case&, const GpuSpec&) {
    return softmax(x, 3, 2 * x.N, 2 * x.Nq * (x.Nk - 1) + 2 * x.N + x.N);
}
Head softmax_online(const Letters& x, const Case&, const GpuSpec&) {
    const Count blocks = x.Nq * x.Tc;  // one element each: the paper's Algorithm 3, with 3 exps an element
    return softmax(x, 2, 2 * x.N + blocks, x.N + blocks + x.N + 2 * x.N + blocks + x.N);
}

using Formula = Head (*)(const Letters&, const Case&, const GpuSpec&);
const std::vector<std::pair<const char*, Formula>> formulas = {{"standard", standard},
                                                               {"three_pass", three_pass},
                                                               {"two_pass", two_pass},
                                                               {"flash_v1", flash_v1},
                                                               {"flash_v2", flash_v2},
                                                               {"memory_efficient", memory_efficient},
                                                               {"chunked", chunked},
                                                               {"split_kv", split_kv},
                                                               {"softmax_naive", softmax_naive},
                                                               {"softmax_safe", softmax_safe},
                                                               {"softmax_online", softmax_online}};

/// Statistics and unfinished outputs are f32 whatever the problem's type.
Bytes element_bytes(const std::string& tensor, const Problem& p) {
    const bool wide =
        std::set<std::string>{"l", "m", "LSE", "m_j", "s_j", "v_j", "O_s", "O_acc", "LSE_s"}.count(tensor) > 0;
    return wide || p.dtype == Dtype::f32 ? 4 : 2;
}

std::string text(const Prediction& p) {
    std::ostringstream out;
    out << "read " << p.hbm_read << " B, written " << p.hbm_write << " B, matmul " << p.matmul_flops << ", exps "
        << p.exps << ", other " << p.other_flops;
    if (p.hbm_reduce != 0) out << ", reduced " << p.hbm_reduce << " B";
    return out.str();
}

Prediction counted(const Outcome& o) {
    const Counters& c = o.counters;
    return {c.hbm_read, c.hbm_write, c.matmul_flops, c.exps, c.other_flops, c.hbm_reduce};
}

bool operator==(const Prediction& a, const Prediction& b) {
    return a.hbm_read == b.hbm_read && a.hbm_write == b.hbm_write && a.matmul_flops == b.matmul_flops &&
           a.exps == b.exps && a.other_flops == b.other_flops && a.hbm_reduce == b.hbm_reduce;
}

/// The differences in words; "" where there are none.
std::string check_against(Formula formula, const Outcome& o, const Prediction& predicted, const Case& c,
                          const GpuSpec& gpu) {
    const Head head = formula(Letters(c), c, gpu);
    const Count heads = c.problem.batch * c.problem.heads;
    std::ostringstream wrong;
    Prediction paper{0, 0, heads * head.matmul, heads * head.exps, heads * head.other};
    Elements sum;
    if (o.tensors.size() != head.tensors.size()) wrong << o.tensors.size() << " tensors are declared\n";
    for (const auto& [name, moved] : head.tensors) {
        const Bytes each = heads * element_bytes(name, c.problem);
        const Traffic expected{each * moved.read, each * moved.write}, actual = o.moved(name);
        if (!(actual == expected))
            wrong << name << ": " << actual.read << " B read, " << actual.write << " B written, expected "
                  << expected.read << " and " << expected.write << '\n';
        paper.hbm_read += expected.read, paper.hbm_write += expected.write;
        sum.read += moved.read, sum.write += moved.write;
    }
    if (sum.read != head.read || sum.write != head.write) wrong << "the formulas here contradict each other\n";
    if (!(counted(o) == paper)) wrong << "counted:   " << text(counted(o)) << "\nformulas:  " << text(paper) << '\n';
    if (!(predicted == paper)) wrong << "predicted: " << text(predicted) << "\nformulas:  " << text(paper) << '\n';
    return wrong.str();
}

void check_all(const Case& each, const GpuSpec& gpu) {
    for (const auto& [name, formula] : formulas) {
        const Algorithm* a = find_algorithm(name);
        if (!a) FAIL("no algorithm is called " << name);
        const Case c = as_supported(*a, each);
        const std::string wrong =
            check_against(formula, run(*a, c, gpu, count_mode), a->predict(c.problem, c.tiling, gpu), c, gpu);
        if (!wrong.empty()) FAIL(to_string(*a, c) << '\n' << wrong);
    }
}

/// Checks predict() of all algorithms, also of those without a formula here.
void check_prediction(const Case& each) {
    for (const Algorithm& a : algorithms()) {
        if (!a.predict) continue;  // not every algorithm has a closed form
        const Case c = as_supported(a, each);
        const Prediction predicted = a.predict(c.problem, c.tiling, roomy());
        const Outcome o = run(a, c, roomy(), count_mode);
        Traffic sum;
        for (const Traffic& t : o.traffic) sum += t;
        INFO(to_string(a, c));
        INFO("counted:   " << text(counted(o)) << "\npredicted: " << text(predicted));
        if (!(counted(o) == predicted)) FAIL("predict() and the folded count differ");
        if (!(sum == Traffic{predicted.hbm_read, predicted.hbm_write, predicted.hbm_reduce}))
            FAIL("tensors do not add up");
    }
}

}  // namespace

TEST_CASE("folded counts are what predict() says, for every algorithm", "[closed_forms]") {
    for (const Case& c : corner_cases()) check_prediction(c);
    for (std::uint64_t seed = 1; seed <= seeds(3000); ++seed) check_prediction(random_case(seed));
    for (std::uint64_t seed = 1; seed <= seeds(300); ++seed) check_prediction(large_case(seed));
    SUCCEED();
}

TEST_CASE("counts and predict() are what the papers say", "[closed_forms]") {
    for (const Case& c : corner_cases()) check_all(c, roomy());
    for (std::uint64_t seed = 1; seed <= seeds(3000); ++seed) check_all(random_case(seed), roomy());
    for (std::uint64_t seed = 1; seed <= seeds(300); ++seed) check_all(large_case(seed), roomy());
    SUCCEED();
}

TEST_CASE("standard reads S once per pass where a row of it does not fit on chip", "[closed_forms]") {
    const Algorithm& standard_attention = *find_algorithm("standard");
    int streamed = 0;
    for (std::uint64_t seed = 1; seed <= seeds(500); ++seed)
        for (const Softmax softmax : {Softmax::safe, Softmax::naive})
            for (const Index rows : {0, 1, 3}) {
                Case c = random_case(seed);
                c.problem.seq_k += 700;  // then a row of S is larger than all other tiles together
                c.problem.dim_v = std::min<Index>(c.problem.dim_v, 24);
                c.problem.softmax = softmax;
                c.tiling = {1 + c.tiling.br % 8, 1 + c.tiling.bc % 8};
                const GpuSpec gpu =
                    machine(1 << 20, std::max<Index>(1, rows) * 4 * (c.problem.seq_k + 2) - (rows == 0));
                const Outcome o = run(standard_attention, c, gpu, count_mode);
                const Prediction predicted = standard_attention.predict(c.problem, c.tiling, gpu);
                INFO(to_string(standard_attention, c) << ", registers for " << rows << " rows of S");
                INFO(check_against(standard, o, predicted, c, gpu));
                if (!check_against(standard, o, predicted, c, gpu).empty()) FAIL("standard");
                if (o.notes.empty() != (rows > 0)) FAIL("streaming is to be noted, and nothing else");
                streamed += rows == 0;
            }
    CHECK(streamed == 2 * static_cast<int>(seeds(500)));
}

TEST_CASE("the idealised count of standard is Algorithm 0 of the FlashAttention paper", "[closed_forms]") {
    for (std::uint64_t seed = 1; seed <= seeds(300); ++seed)
        for (const Case& c : {random_case(seed), large_case(seed)}) {
            const auto idealised = find_algorithm("standard")->paper.idealised(c.problem);
            REQUIRE(idealised);
            const Letters x(Case{c.problem, {1 << 30, 1 << 30}, seed});
            const Count heads = c.problem.batch * c.problem.heads, e = element_bytes("Q", c.problem);
            const Prediction paper{heads * e * (x.Nq * x.d + x.Nk * x.d + x.Nk * x.dv + 2 * x.N),
                                   heads * e * (2 * x.N + x.Nq * x.dv), heads * 2 * x.N * (x.d + x.dv), heads * x.N,
                                   heads * (4 * x.N - 2 * x.Nq)};
            INFO(c << '\n' << text(idealised->count) << '\n' << text(paper));
            if (!(idealised->count == paper)) FAIL("idealised");
        }
    // The paper prints Theta(Nd + N^2) HBM accesses; here 4 N^2 + 4 N d.
    Problem p;
    p.heads = p.kv_heads = 1;
    const Prediction count = find_algorithm("standard")->paper.idealised(p)->count;
    CHECK(count.hbm_read + count.hbm_write == 2 * (4 * 1024 * 1024 + 4 * 1024 * 64));
}

TEST_CASE("with tiles as large as the problem, tiled products move what Algorithm 0 says", "[closed_forms]") {
    for (std::uint64_t seed = 1; seed <= seeds(100); ++seed) {
        Case c = random_case(seed);
        c.problem.softmax = Softmax::safe;
        c.tiling = {c.problem.seq_q, c.problem.seq_k};
        const Algorithm& a = *find_algorithm("standard");
        INFO(c);
        if (!(counted(run(a, c, roomy(), count_mode)) == a.paper.idealised(c.problem)->count)) FAIL("standard");
    }
    SUCCEED();
}

TEST_CASE("tensors take the bytes of their shape and type", "[closed_forms]") {
    for (const Case& c : corner_cases())
        for (const Algorithm& a : algorithms()) {
            const Problem& p = c.problem;
            const Outcome o = run(a, c, roomy(), count_mode);
            const Bytes e = p.dtype == Dtype::f32 ? 4 : 2, q = p.batch * p.heads * p.seq_q;
            const Bytes kv = p.batch * p.kv_heads * p.seq_k;
            INFO(to_string(a, c));
            if (a.computes == &computation::softmax) {
                CHECK(o.tensor("X").bytes() == q * p.seq_k * e);
                CHECK(o.tensor("Y").bytes() == q * p.seq_k * e);
            } else {
                CHECK(o.tensor("Q").bytes() == q * p.dim * e);
                CHECK(o.tensor("K").bytes() == kv * p.dim * e);
                CHECK(o.tensor("V").bytes() == kv * p.dim_v * e);
                CHECK(o.tensor(a.computes == &computation::attention ? "O" : "dO").bytes() == q * p.dim_v * e);
            }
        }
}

TEST_CASE("no counter comes near the end of its range on a problem that validate() accepts", "[closed_forms]") {
    // validate() bounds batch x heads x Nq x Nk x (d + dv) by 2^56. Worst are tiles of one element, and few columns.
    for (const Algorithm& a : algorithms())
        for (const Index dim : {1, 2, 64}) {
            Case c;
            c.problem.seq_q = c.problem.seq_k = 1 << 10;
            c.problem.dim = c.problem.dim_v = dim;
            c.problem.dtype = Dtype::f32;
            c.tiling = {1, 1};
            const Problem& p = c.problem;
            const Count work = p.batch_heads() * p.seq_q * p.seq_k * (p.dim + p.dim_v);
            const Outcome o = run(a, c, roomy(), count_mode);
            for (const auto& [name, member] : Counters::fields) {
                INFO(to_string(a, c) << ": " << name << " is " << o.counters.*member << ", work is " << work);
                CHECK(o.counters.*member < (Count{1} << (63 - 56)) * work);
            }
        }
}
