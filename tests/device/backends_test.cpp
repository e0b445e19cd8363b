#include "device/backends.hpp"

#include <cmath>

#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/timing.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::device;

namespace {

Problem first_table() {
    Problem p;
    p.heads = p.kv_heads = 64, p.seq_q = p.seq_k = 4096;
    return p;
}

std::vector<std::string> keys(const BackendTimes& m) {
    std::vector<std::string> names;
    for (const BackendTime& t : m.times) names.emplace_back(t.backend->key);
    return names;
}

}  // namespace

TEST_CASE("what PyTorch runs was measured on the problem of the first table", "[backends]") {
    for (const std::string gpu : {"H100-SXM", "H200"}) {
        CAPTURE(gpu);
        const auto m = backend_times(first_table(), gpu);
        REQUIRE(m);
        CHECK(same_shape(m->problem, first_table()));
        CHECK(work_ratio(m->problem, first_table()) == 1);
        REQUIRE(m->chosen);
        CHECK(m->chosen->key == std::string("cudnn"));
        CHECK(m->like(*m->chosen).algorithm == std::string("flash_v3"));
        CHECK(m->like(*m->chosen).named == std::string("cudnn-9.19"));
        CHECK(keys(*m) == std::vector<std::string>{"cudnn", "flash", "efficient", "by_hand", "math"});
        CHECK(std::ranges::is_sorted(m->times, {}, &BackendTime::us));
        CHECK(m->library.starts_with("PyTorch "));
        CHECK(m->date.size() == 10);
    }
}

TEST_CASE("where FlashAttention-2's rule cuts the keys its like is split_kv, within 15%", "[backends][numbers]") {
    for (const std::string gpu : {"H100-SXM", "H200"})
        for (const Index dim : {64, 128, 256})
            for (const Mask& mask : {Mask(), Mask::causal()}) {
                Problem p;  // 128 thread blocks of 64 rows: too few to fill the GPU
                p.heads = p.kv_heads = 8, p.seq_q = p.seq_k = 1024, p.dim = p.dim_v = dim, p.mask = mask;
                const auto m = backend_times(p, gpu);
                REQUIRE((m && same_shape(m->problem, p)));
                const auto flash = std::ranges::find_if(
                    m->times, [](const BackendTime& t) { return t.backend->key == std::string_view("flash"); });
                REQUIRE(flash != m->times.end());
                REQUIRE(m->like(*flash->backend).algorithm == std::string_view("split_kv"));
                lab::Experiment e{find_algorithm("split_kv"), p, {}, lab::gpu_preset(gpu)};
                lab::Wish wish;
                e.tiling = lab::choose_tiling(*e.algorithm, p, wish, e.gpu);
                const double us = lab::time_of(e).us();
                INFO(gpu << ", d = " << dim << ": " << us << " of " << flash->us << " us");
                CHECK(std::abs(us / flash->us - 1) < 0.15);
            }
    const auto many = backend_times(first_table(), "H100-SXM");
    for (const BackendTime& t : many->times)
        if (t.backend->key == std::string_view("flash"))
            CHECK(many->like(*t.backend).algorithm == std::string_view("flash_v2"));
}

TEST_CASE("batch entries count as heads", "[backends]") {
    Problem p = first_table();
    p.batch = 4, p.heads = p.kv_heads = 16;
    const auto m = backend_times(p, "H100-SXM");
    REQUIRE(m);
    CHECK(same_shape(m->problem, p));
    CHECK(m->problem.batch_heads() == 64);
}

TEST_CASE("a problem was measured only where all of its sizes and its type were", "[backends]") {
    const Problem measured = backend_times(first_table(), "H100-SXM")->problem;
    REQUIRE(same_shape(measured, first_table()));
    const auto same = [&](auto&& change) {
        Problem p = first_table();
        change(p);
        return same_shape(measured, p);
    };
    CHECK(!same([](Problem& p) { p.seq_k = 4000; }));
    CHECK(!same([](Problem& p) { p.seq_q = p.seq_k = 4097; }));
    CHECK(!same([](Problem& p) { p.heads = p.kv_heads = 63; }));
    CHECK(!same([](Problem& p) { p.dtype = Dtype::bf16; }));
    CHECK(!same([](Problem& p) { p.mask = Mask::causal(); }));
}

TEST_CASE("where a problem was not measured, the nearest of its kind is told with its work", "[backends]") {
    Problem p = first_table();
    p.seq_q = p.seq_k = 3000;
    const auto m = backend_times(p, "H100-SXM");
    REQUIRE(m);
    CHECK_FALSE(same_shape(m->problem, p));
    CHECK(m->problem.seq_k == 4096);
    CHECK(m->problem.batch_heads() == 64);
    CHECK(work_ratio(m->problem, p) == Approx(4096.0 * 4096 / 3000 / 3000));

    p.mask = Mask::causal();
    REQUIRE(backend_times(p, "H100-SXM"));
    CHECK(backend_times(p, "H100-SXM")->problem.mask.is_causal());

    Problem decode;
    decode.heads = 32, decode.kv_heads = 8, decode.seq_q = 1, decode.seq_k = 10000, decode.dim = decode.dim_v = 128;
    REQUIRE(backend_times(decode, "H200"));
    const auto one = backend_times(decode, "H200");
    CHECK(one->problem.seq_q == 1);
    for (const BackendTime& t : one->times)
        if (t.backend->key == std::string("flash")) CHECK(one->like(*t.backend).algorithm == std::string("split_kv"));
}

TEST_CASE("of what nothing near was measured, nothing is told", "[backends]") {
    CHECK_FALSE(backend_times(first_table(), "A100-40GB"));
    const auto told = [](auto&& change) {
        Problem p = first_table();
        change(p);
        return backend_times(p, "H100-SXM").has_value();
    };
    CHECK(told([](Problem&) {}));
    CHECK_FALSE(told([](Problem& p) { p.dim = p.dim_v = 96; }));
    CHECK_FALSE(told([](Problem& p) { p.dim_v = 32; }));
    CHECK_FALSE(told([](Problem& p) { p.dtype = Dtype::f32; }));
    CHECK_FALSE(told([](Problem& p) { p.mask = Mask::window(100, 0); }));
    CHECK_FALSE(told([](Problem& p) { p.soft_cap = 30; }));
    CHECK_FALSE(told([](Problem& p) { p.alibi = p.heads; }));
    CHECK_FALSE(told([](Problem& p) { p.dropout.p = 0.1; }));
    CHECK_FALSE(told([](Problem& p) { p.pages.size = 16; }));
    CHECK_FALSE(told([](Problem& p) { p.seq_q = p.seq_k = 64; }));
    CHECK_FALSE(told([](Problem& p) { p.seq_q = 4, p.seq_k = 8192; }));  // the work of a square, but not its bytes
    CHECK_FALSE(told([](Problem& p) { p.seq_q = 8192, p.mask = Mask::causal(); }));
}
