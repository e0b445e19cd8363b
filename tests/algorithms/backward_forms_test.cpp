// The backward passes: the papers' closed forms, typed here once more over sums that are counted tile by tile; and
// numbers of parts.
#include <cmath>
#include <set>

#include "lab/model/mapping.hpp"
#include "lab/run/experiment.hpp"
#include "tests/algorithms/backward_cases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/gradients.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using tilescope::testing::PlainAttention;

namespace {

struct Letters {
    Index Nq, Nk, d, dv, N, Tr, Tc, U = 0, Kt = 0, Ka = 0, Ra = 0, E = 0;
    Bytes e, f = 4;
    Count heads, kv_heads;
    Index asked, S;  // numbers of parts

    explicit Letters(const Case& c)
        : Nq(c.problem.seq_q),
          Nk(c.problem.seq_k),
          d(c.problem.dim),
          dv(c.problem.dim_v),
          N(Nq * Nk),
          Tr((Nq + c.tiling.br - 1) / c.tiling.br),
          Tc((Nk + c.tiling.bc - 1) / c.tiling.bc),
          e(c.problem.dtype == Dtype::f32 ? 4 : 2),
          heads(c.problem.batch * c.problem.heads),
          kv_heads(c.problem.batch * c.problem.kv_heads),
          asked(c.tiling.splits),
          S(parts(c)) {
        std::set<Index> columns;
        for (Index i = 0; i < Tr; ++i) {
            const Index first = i * c.tiling.br, rows = std::min(c.tiling.br, Nq - first);
            bool active = false;
            for (Index j = 0; j < Tc; ++j) {
                const Index key = j * c.tiling.bc, keys = std::min(c.tiling.bc, Nk - key);
                if (!any_sees(c.problem, {first, rows}, {key, keys})) continue;
                U += rows, Kt += keys, E += rows * keys, active = true;
                if (columns.insert(key).second) Ka += keys;
            }
            if (active) Ra += rows;
        }
    }

    /// xformers' rule for a number of parts that is left open: attention_backward_generic.cu.
    Index parts(const Case& c) const {
        if (c.tiling.splits > 0) return std::min(c.tiling.splits, Tc);
        if (kv_heads >= 256 && Tc <= 2) return 1;
        return d <= 128 && dv <= 128 ? Tc : e == 4 ? Tc : std::min(Tc, std::max<Index>(200 / kv_heads, 1));
    }

    static bool any_sees(const Problem& p, Span rows, Span keys) {
        for (Index r = rows.begin; p.mask.hides() && r < rows.end(); ++r)
            for (Index k = keys.begin; k < keys.end(); ++k)
                if (p.sees(r, k)) return true;
        return !p.mask.hides();
    }
};

/// What a query head moves and computes; and the bytes that a head of K and V adds once, because a thread block
/// works on all query heads that share K and V.
struct Formula {
    Bytes read, written, reduced;
    Count matmul, exps, other;
    Bytes kv_read, kv_written;
};

/// As released: the sum over three launches.
Formula flash_v2(const Letters& x) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, Ra, E, e, f, heads, kv_heads, asked, S] = x;
    const bool converts = e != f;
    return {2 * Nq * dv * e + e * U * (d + dv) + f * 2 * U + (converts ? f * Nq * d : 0),
            f * (Nq + Nq * d) + (converts ? e * Nq * d : 0),
            f * U * d,
            2 * E * (3 * d + 2 * dv),
            E,
            3 * E + Nq * (2 * dv - 1),
            e * Ka * (d + dv),
            e * Nk * (d + dv)};
}

/// Algorithm 2 as printed: dQ is read and written at every visit.
Formula flash_v2_literal(const Letters& x) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, Ra, E, e, f, heads, kv_heads, asked, S] = x;
    return {e * (2 * Nq * dv + U * (2 * d + dv)) + f * 2 * U,
            e * (Nq * d + U * d) + f * Nq,
            0,
            2 * E * (3 * d + 2 * dv),
            E,
            3 * E + Nq * (2 * dv - 1),
            e * Ka * (d + dv),
            e * Nk * (d + dv)};
}

/// As released, with a dQ of its own for each part of the key blocks.
Formula flash_v2_deterministic(const Letters& x) {
    const Index n = std::max<Index>(1, x.asked);
    return {2 * x.Nq * x.dv * x.e + x.e * x.U * (x.d + x.dv) + x.f * 2 * x.U + x.f * n * x.Nq * x.d,
            x.f * (x.Nq + n * x.Nq * x.d) + x.e * x.Nq * x.d,
            x.f * x.U * x.d,
            2 * x.E * (3 * x.d + 2 * x.dv),
            x.E,
            3 * x.E + x.Nq * (2 * x.dv - 1) + (n - 1) * x.Nq * x.d,
            x.e * x.Ka * (x.d + x.dv),
            x.e * x.Nk * (x.d + x.dv)};
}

/// The backward pass of Triton's tutorial.
Formula two_pass(const Letters& x) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, Ra, E, e, f, heads, kv_heads, asked, S] = x;
    return {e * (2 * Nq * dv + (U + Ra + Kt) * (d + dv)) + f * (2 * U + 2 * Ra),
            e * Nq * d + f * Nq,
            0,
            2 * E * (4 * d + 3 * dv),
            2 * E,
            6 * E + Nq * (2 * dv - 1),
            e * Ka * (d + dv),
            e * Nk * (d + dv)};
}

/// Algorithm 3 as five tiled launches with whole rows of P and dP on chip; no tile is skipped.
Formula standard(const Letters& x) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, Ra, E, e, f, heads, kv_heads, asked, S] = x;
    return {e * (5 * N + Tc * Nq * (d + 2 * dv) + Tr * Nk * (d + dv)),
            e * (2 * N + Nq * d),
            0,
            4 * N * (d + dv),
            0,
            4 * N - Nq,
            0,
            e * Nk * (d + dv)};
}

/// Algorithm 4.
Formula flash_v1(const Letters& x) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, Ra, E, e, f, heads, kv_heads, asked, S] = x;
    return {e * U * (2 * d + 2 * dv) + f * 2 * U,
            e * (Nq * d + U * d),
            0,
            2 * E * (3 * d + 2 * dv),
            E,
            4 * E + U * (2 * dv - 1),
            e * Ka * (d + dv),
            e * (Nk + Ka) * (d + dv)};
}

/// xformers' kernel; dQ of rows that see no key is written once, too.
Formula memory_efficient(const Letters& x) {
    const auto& [Nq, Nk, d, dv, N, Tr, Tc, U, Kt, Ka, Ra, E, e, f, heads, kv_heads, asked, S] = x;
    const Index X = S > 1 ? U : U - Ra, blind = Nq - Ra;
    return {e * (2 * S * Nq * dv + 2 * U * (d + dv) + Kt * (2 * d + dv)) + f * (2 * U + X * d),
            e * (Ra + blind) * d + f * (S * Nq + (U - Ra) * d),
            0,
            2 * E * (3 * d + 2 * dv),
            E,
            3 * E + S * Nq * (2 * dv - 1),
            0,
            e * Nk * (d + dv)};
}

Prediction total(const Formula& h, const Letters& x) {
    return {x.heads * h.read + x.kv_heads * h.kv_read,
            x.heads * h.written + x.kv_heads * h.kv_written,
            x.heads * h.matmul,
            x.heads * h.exps,
            x.heads * h.other,
            x.heads * h.reduced};
}

const std::vector<std::pair<const char*, Formula (*)(const Letters&)>> formulas = {
    {"standard_backward", standard},
    {"flash_v1_backward", flash_v1},
    {"flash_v2_backward", flash_v2},
    {"flash_v2_literal_backward", flash_v2_literal},
    {"flash_v2_deterministic_backward", flash_v2_deterministic},
    {"two_pass_backward", two_pass},
    {"memory_efficient_backward", memory_efficient}};

}  // namespace

TEST_CASE("backward: counts and predict() are what the papers say", "[backward][closed_forms]") {
    for (const Case& each : varied_cases(600))
        for (const auto& [name, formula] : formulas) {
            const Algorithm& a = *find_algorithm(name);
            const Case c = as_supported(a, each);
            const Letters x(c);
            const std::string expected = numbers_of(total(formula(x), x));
            INFO(to_string(a, c) << ", mask " << c.problem.mask.name());
            CHECK(counted_numbers(run(a, c, roomy(), count_mode)) == expected);
            CHECK(numbers_of(a.predict(c.problem, c.tiling, roomy())) == expected);
        }
}

TEST_CASE("backward: totals of a head of 1024 rows and keys", "[backward][closed_forms]") {
    Case c;
    c.problem.heads = c.problem.kv_heads = 1;
    c.tiling = {128, 128};
    const auto of = [&](const char* name) {
        return counted_numbers(run(*find_algorithm(name), c, roomy(), count_mode));
    };
    CHECK(of("standard_backward") == numbers_of({15'728'640, 4'587'520, 536'870'912, 0, 4'193'280, 0}));
    CHECK(of("flash_v1_backward") == numbers_of({4'521'984, 1'703'936, 671'088'640, 1'048'576, 5'234'688, 0}));
    CHECK(of("flash_v2_backward") == numbers_of({2'949'120, 659'456, 671'088'640, 1'048'576, 3'275'776, 2'097'152}));
    CHECK(of("flash_v2_literal_backward") == numbers_of({3'735'552, 1'445'888, 671'088'640, 1'048'576, 3'275'776, 0}));
    CHECK(of("two_pass_backward") == numbers_of({5'054'464, 397'312, 939'524'096, 2'097'152, 6'421'504, 0}));
}

TEST_CASE("backward: standard reads rows that do not fit on chip twice", "[backward][closed_forms][numbers]") {
    const Algorithm& a = *find_algorithm("standard_backward");
    for (std::uint64_t seed = 1; seed <= seeds(50); ++seed)
        for (const bool fits : {true, false}) {
            Case c = as_supported(a, random_case(seed));
            c.problem.seq_k += 700;  // then a row is larger than all other tiles together
            c.tiling = {1 + c.tiling.br % 8, 1 + c.tiling.bc % 8};
            const GpuSpec gpu = machine(1 << 20, 4 * (3 * c.problem.seq_k + 1) - (fits ? 0 : 1));
            const Letters x(c);
            Formula once = standard(x);
            if (!fits) once.read += 2 * x.e * x.N;
            INFO(to_string(a, c));
            const Inputs in = inputs_for(a, c);
            const Outcome folded = run(a, c, gpu, count_mode), real = run(a, c, gpu, numeric_mode, in);
            CHECK(counted_numbers(folded) == numbers_of(total(once, x)));
            CHECK(counted_numbers(real) == counted_numbers(folded));
            CHECK(numbers_of(a.predict(c.problem, c.tiling, gpu)) == counted_numbers(folded));
            CHECK(folded.notes.empty() == fits);
            const Outcome roomier = run(a, c, roomy(), numeric_mode, in);
            CHECK(distance(*real.tensor("dQ").data, *roomier.tensor("dQ").data) <=
                  (c.problem.dtype == Dtype::f32 ? 1e-4 : 0.2));
        }
}

TEST_CASE("backward: parts of memory_efficient_backward are those of its library", "[backward][splits]") {
    const Algorithm& a = *find_algorithm("memory_efficient_backward");
    const auto parts = [&](Index heads, Index keys, Index dim, Index asked = 0, Dtype dtype = Dtype::f16) {
        Problem p;
        p.heads = p.kv_heads = heads, p.seq_q = p.seq_k = keys, p.dim = p.dim_v = dim, p.dtype = dtype;
        return choose_tiling(a, p, {{64, 64, asked}}, roomy()).splits;
    };
    CHECK(parts(8, 1024, 64) == 16);
    CHECK(parts(8, 1000, 64) == 16);
    CHECK(parts(8, 1024, 64, 3) == 3);
    // Two key blocks of many heads are one part; three are three.
    CHECK(parts(256, 128, 64) == 1);
    CHECK(parts(255, 128, 64) == 2);
    CHECK(parts(256, 129, 64) == 3);
    // 16-bit dK and dV that do not fit into registers.
    CHECK(parts(25, 1024, 192) == 8);
    CHECK(parts(201, 1024, 192) == 1);
    CHECK(parts(25, 1024, 128) == 16);
    CHECK(parts(25, 1024, 192, 0, Dtype::f32) == 16);
    // A run that leaves the number open equals one with the number that the rule gives.
    Case open, chosen;
    open.tiling = {64, 64, 0}, chosen.tiling = {64, 64, 16};
    CHECK(counted_numbers(run(a, open, roomy(), count_mode)) == counted_numbers(run(a, chosen, roomy(), count_mode)));
}

TEST_CASE("backward: deterministic sums are as many as fill the SMs, and those of flash_v2_backward",
          "[backward][splits][numbers]") {
    const Algorithm& a = *find_algorithm("flash_v2_deterministic_backward");
    GpuSpec gpu = roomy();
    for (const auto& [sms, heads, parts] : {std::array<Index, 3>{132, 8, 17}, {132, 12, 11}, {108, 200, 1}}) {
        gpu.sms = sms;
        Problem p;
        p.heads = p.kv_heads = heads;
        CHECK(choose_tiling(a, p, {{64, 64}}, gpu).splits == parts);
        CHECK(choose_tiling(a, p, {{64, 64, 5}}, gpu).splits == 5);
    }
    for (const Case& each : varied_cases(20)) {
        Case c = in_f32(a, each);
        INFO(to_string(a, c) << ", mask " << c.problem.mask.name());
        const Inputs in = inputs_for(a, c);
        const auto sizes = PlainAttention(c.problem, in).gradients().sizes;
        const Outcome released = run(*find_algorithm("flash_v2_backward"), c, roomy(), numeric_mode, in);
        for (const Index parts : {1, 2, 1000}) {
            c.tiling.splits = parts;
            const Outcome o = run(a, c, roomy(), numeric_mode, in);
            if (parts == 1) CHECK(same_bits(*o.tensor("dQ").data, *released.tensor("dQ").data));
            CHECK(distance(*o.tensor("dQ").data, *released.tensor("dQ").data) <= 2e-5 * sizes.at("dQ"));
            CHECK(same_bits(*o.tensor("dK").data, *released.tensor("dK").data));
            CHECK(same_bits(*o.tensor("dV").data, *released.tensor("dV").data));
        }
    }
}

TEST_CASE("backward: parts change counts and the order of sums, not gradients", "[backward][splits]") {
    const Algorithm& a = *find_algorithm("memory_efficient_backward");
    for (const Case& each : varied_cases(30)) {
        Case c = in_f32(a, each);
        INFO(to_string(a, c) << ", mask " << c.problem.mask.name());
        const Inputs in = inputs_for(a, c);
        const auto sizes = PlainAttention(c.problem, in).gradients().sizes;
        c.tiling.splits = 1;
        const Outcome one = run(a, c, roomy(), numeric_mode, in);
        for (const Index parts : {2, 3, 1000}) {
            c.tiling.splits = parts;
            const Outcome o = run(a, c, roomy(), numeric_mode, in);
            CHECK(distance(*o.tensor("dQ").data, *one.tensor("dQ").data) <= 2e-5 * sizes.at("dQ"));
            CHECK(same_bits(*o.tensor("dK").data, *one.tensor("dK").data));
            CHECK(same_bits(*o.tensor("dV").data, *one.tensor("dV").data));
        }
    }
}
