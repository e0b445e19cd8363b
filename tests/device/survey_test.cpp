#include "device/survey.hpp"

#include <set>

#include "algorithms/contract/roles.hpp"
#include "algorithms/contract/validate.hpp"
#include "device/validate_cases.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::device;

namespace {

double gigabytes(const KernelCase& c) { return static_cast<double>(device_bytes(c)) / 1e9; }

void check_cases(const std::vector<KernelCase>& cases) {
    std::set<std::string> commands;
    for (const KernelCase& c : cases) {
        INFO(command_of(c));
        CHECK_NOTHROW(validate(c.problem));
        CHECK(c.variant->serves(c.problem));
        CHECK(commands.insert(command_of(c)).second);
    }
}

/// Cases of one problem stand together, so that its inputs and reference are computed once.
void check_order(const std::vector<KernelCase>& cases) {
    for (std::size_t k = 1; k < cases.size(); ++k) {
        if (same_problem(cases[k], cases[k - 1])) continue;
        INFO(command_of(cases[k]));
        for (std::size_t j = 0; j + 1 < k; ++j) CHECK(!same_problem(cases[j], cases[k]));
    }
}

std::set<const KernelVariant*> variants(const std::vector<KernelCase>& cases, Index least, Index most) {
    std::set<const KernelVariant*> all;
    for (const KernelCase& c : cases)
        if (c.problem.seq_q >= least && c.problem.seq_q <= most) all.insert(c.variant);
    return all;
}

template <class F>
bool any(const std::vector<KernelCase>& cases, F f) {
    return std::any_of(cases.begin(), cases.end(), f);
}

}  // namespace

TEST_CASE("survey: every case is a valid one, and comes once", "[survey]") {
    for (const auto& cases : {full_survey(), quick_survey()}) {
        check_cases(cases);
        check_order(cases);
    }
}

TEST_CASE("survey: the order never changes", "[survey]") {
    const auto once = full_survey(), again = full_survey();
    REQUIRE(once.size() == again.size());
    for (std::size_t k = 0; k < once.size(); ++k) CHECK(command_of(once[k]) == command_of(again[k]));
}

TEST_CASE("survey: both surveys have every kernel, the full one at two lengths", "[survey]") {
    const auto full = full_survey(), quick = quick_survey();
    const auto at_1024 = variants(full, 1024, 1024), at_4096 = variants(full, 4096, 4097);
    const auto small = variants(quick, 1, 300);
    for (const Algorithm& a : algorithms())
        for (const KernelVariant& v : kernels_of(a)) {
            INFO(a.name << ' ' << name_of(v.dtype) << ' ' << v.tile.br << " x " << v.tile.bc << ", d " << v.dim);
            CHECK(at_1024.count(&v));
            CHECK(at_4096.count(&v));
            CHECK(small.count(&v));
        }
}

TEST_CASE("survey: the full one has the shapes that it promises", "[survey]") {
    const auto full = full_survey();
    CHECK(full.size() >= 300);
    for (const Algorithm& a : algorithms()) {
        const auto offers = [&](auto f) { return std::ranges::any_of(kernels_of(a), f); };
        // The numbers of queries and keys are those of fp32 kernels with a head dimension of 64.
        if (!offers([](const KernelVariant& v) { return v.dtype == Dtype::f32 && (v.dim == 0 || v.dim == 64); }))
            continue;
        const Index most = has_splits(a.knobs) ? 120 : 80;  // ends within an evening; split_kv also decodes
        CHECK(std::ranges::count(full, &a, &KernelCase::algorithm) < most);
        const auto has = [&](auto f) {
            return any(full, [&](const KernelCase& c) { return c.algorithm == &a && f(c.problem); });
        };
        INFO(a.name);
        for (const Index n : {256, 1000, 1024, 4096, 4097, 16384}) {
            INFO(n);
            if (n == 16384 && a.computes == &computation::attention_backward) continue;  // its reference takes minutes
            CHECK(has([&](const Problem& p) { return p.seq_q == n || p.seq_k == n; }));
        }
        for (const Index heads : {1, 16, 64}) CHECK(has([&](const Problem& p) { return p.batch_heads() == heads; }));
        if (a.computes == &computation::softmax) continue;
        CHECK(has([](const Problem& p) { return p.mask.is_causal(); }));
        CHECK(has([](const Problem& p) { return p.kv_heads < p.heads; }));
        CHECK(has([](const Problem& p) { return p.seq_q != p.seq_k; }));
        CHECK(has([](const Problem& p) { return p.dim != p.dim_v; }) ==
              offers([](const KernelVariant& v) { return v.dim != v.dim_v; }));
    }
}

TEST_CASE("survey: a GPU gets the kernels that it can run", "[survey]") {
    ValidateFlags flags;
    flags.survey = "quick", flags.options.gpu = "H200";
    const auto cases_on = [&](const char* compute_capability, Bytes shared_memory) {
        Device device;
        device.compute_capability = compute_capability, device.shared_per_block = shared_memory;
        return resolve(flags, device, nullptr).cases;
    };
    const auto hopper = cases_on("9.0", 227 << 10), blackwell = cases_on("10.0", 227 << 10);
    const auto is_of_hopper = [](const KernelCase& c) { return c.variant->hopper; };
    CHECK(any(hopper, is_of_hopper));
    CHECK(!any(blackwell, is_of_hopper));
    CHECK(hopper.size() == resolve(flags, {}, nullptr).cases.size());
    CHECK(!any(cases_on("9.0", 100 << 10), [](const KernelCase& c) { return c.variant->shared() > 100 << 10; }));
}

TEST_CASE("validate: knobs of roles choose among kernels", "[survey]") {
    ValidateFlags flags;
    flags.options.gpu = "H200", flags.options.dtype = "f16", flags.options.dim = 128;
    flags.algorithms = {"flash_v3"};
    const auto chosen = [&] { return resolve(flags, {}, nullptr).cases.at(0); };
    CHECK(chosen().variant->tile.turns == on);
    CHECK(chosen().variant->tile.persistent == dealt_in_pairs);
    CHECK(command_of(chosen()).find("--persistent paired") != std::string::npos);
    flags.options.roles = {{"turns", "off"}, {"slots", "4"}};
    CHECK(chosen().variant->tile.turns == off);
    CHECK(command_of(chosen()).find("--turns off --overlap on") != std::string::npos);
    flags.options.roles = {{"slots", "6"}};
    CHECK(chosen().variant->tile.slots == 6);
    flags.options.roles = {{"persistent", "off"}};
    CHECK(chosen().variant->tile.persistent == a_block_each);
    flags.options.roles = {{"cluster", "2"}};
    CHECK(chosen().variant->tile.cluster == 2);
    flags.options.roles = {{"specialised", "off"}};
    CHECK(chosen().variant->threads == 256);
    flags.options.roles = {{"slots", "6"}, {"turns", "off"}};
    CHECK_THROWS_AS(chosen(), UsageError);
}

TEST_CASE("survey: one case of the full one is too large for any GPU, the others fit well", "[survey]") {
    int too_large = 0;
    for (const KernelCase& c : full_survey()) {
        INFO(command_of(c));
        too_large += gigabytes(c) > 152;  // an H200 has 141 GiB
        CHECK((gigabytes(c) > 152 || gigabytes(c) < 60));
    }
    CHECK(too_large == 1);
}

TEST_CASE("survey: the quick one is nasty and small", "[survey]") {
    const auto quick = quick_survey();
    const auto has = [&](auto f) { return any(quick, [&](const KernelCase& c) { return f(c.problem); }); };
    CHECK(has([](const Problem& p) { return p.seq_q == 1; }));
    CHECK(has([](const Problem& p) { return p.seq_k == 1; }));
    CHECK(has([](const Problem& p) { return p.mask.is_causal() && p.seq_q > p.seq_k; }));
    CHECK(has([](const Problem& p) { return p.scale == 100; }));
    CHECK(has([](const Problem& p) { return p.dim > p.dim_v; }));
    CHECK(has([](const Problem& p) { return p.dim < p.dim_v; }));
    for (const KernelCase& c : quick) CHECK(gigabytes(c) < 0.01);
}

TEST_CASE("survey: heads are packed and not, of one query and of several", "[survey]") {
    for (const auto& cases : {full_survey(), quick_survey()})
        for (const Dtype t : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
            const auto has = [&](auto f) {
                return any(cases, [&](const KernelCase& c) {
                    return c.problem.dtype == t && c.algorithm->name == std::string_view("split_kv") && f(c);
                });
            };
            INFO(name_of(t));
            CHECK(has([](const KernelCase& c) { return c.problem.packed > 1 && c.problem.queries() == 1; }));
            CHECK(has([](const KernelCase& c) { return c.problem.packed > 1 && c.problem.queries() > 1; }));
            CHECK(has([](const KernelCase& c) { return c.problem.packed > 1 && c.problem.mask.is_causal(); }));
            CHECK(
                has([](const KernelCase& c) { return c.problem.packed == 1 && c.problem.heads > c.problem.kv_heads; }));
        }
}

TEST_CASE("survey: packed rows fill a part of a tile, and more than one", "[survey]") {
    const auto full = full_survey();
    for (const Dtype t : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
        const auto has = [&](auto f) {
            return any(full, [&](const KernelCase& c) {
                return c.problem.dtype == t && c.problem.packed > 1 && f(c.problem.seq_q, c.variant->tile.br);
            });
        };
        CHECK(has([](Index rows, Index br) { return rows < br; }));
        CHECK(has([](Index rows, Index br) { return rows > br && rows % br > 0; }));
    }
}

TEST_CASE("survey: keys are cut into one part, several, more than there are key tiles and than a block has threads",
          "[survey]") {
    const Algorithm* const split = find_algorithm("split_kv");
    for (const auto& cases : {full_survey(), quick_survey()})
        for (const KernelCase& c : cases) {
            INFO(command_of(c));
            CHECK((c.splits > 0) == has_splits(c.algorithm->knobs));
        }
    for (const Dtype t : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
        const auto has = [&](const std::vector<KernelCase>& cases, auto f) {
            return any(cases, [&](const KernelCase& c) {
                return c.algorithm == split && c.problem.dtype == t &&
                       f(c, ceil_div(c.problem.seq_k, c.variant->tile.bc));
            });
        };
        const auto quick = quick_survey();
        CHECK(has(quick, [](const KernelCase& c, Index) { return c.splits == 1; }));
        CHECK(has(quick, [](const KernelCase& c, Index tiles) { return c.splits > 1 && c.splits < tiles; }));
        CHECK(has(quick, [](const KernelCase& c, Index tiles) { return c.splits > tiles; }));
        CHECK(has(quick, [](const KernelCase& c, Index) { return c.splits > c.variant->threads; }));
        CHECK(has(full_survey(), [](const KernelCase& c, Index tiles) {
            return c.problem.seq_q == 1 && c.splits > 1 && c.splits <= tiles;
        }));
    }
}
