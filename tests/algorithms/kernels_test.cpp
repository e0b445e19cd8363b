// The tables of kernels compared with the simulated programs. Nothing runs on a GPU here.
#include <map>

#include "algorithms/contract/pass_lists.hpp"
#include "algorithms/cuda/registry.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/run/experiment.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

/// Two by two full tiles, so that each tile has its largest size.
Problem full_tiles(const KernelVariant& v) {
    Problem p;
    p.heads = p.kv_heads = 1;
    p.dtype = v.dtype;
    p.seq_q = 2 * v.tile.br, p.seq_k = 2 * v.tile.bc;
    if (v.dim > 0) p.dim = v.dim;
    if (v.dim_v > 0) p.dim_v = v.dim_v;
    return p;
}

std::string to_string(const Algorithm& a, const KernelVariant& v) {
    return std::string(a.name) + ' ' + name_of(v.dtype) + " Br " + std::to_string(v.tile.br) + " Bc " +
           std::to_string(v.tile.bc) + " d " + std::to_string(v.dim) + " dv " + std::to_string(v.dim_v);
}

template <class F>
void for_all(F&& f) {
    for (const Algorithm& a : algorithms())
        for (const KernelVariant& v : kernels_of(a)) {
            INFO(to_string(a, v));
            f(a, v);
        }
}

}  // namespace

TEST_CASE("kernels: shared memory for tiles is the simulated SRAM peak", "[kernels]") {
    const GpuSpec gpu = gpu_preset("H200");
    for_all([&](const Algorithm& a, const KernelVariant& v) {
        CHECK(count({&a, full_tiles(v), v.tile, gpu}).sram_peak == v.tiles);
    });
}

TEST_CASE("kernels: thread blocks are ones that a GPU can run", "[kernels]") {
    // The most shared memory of a thread block on H100 and H200 (compute capability 9.0): 227 KiB.
    const Bytes hopper = gpu_preset("H200").sram_per_block;
    CHECK(hopper == 227 * 1024);
    for_all([&](const Algorithm&, const KernelVariant& v) {
        CHECK(v.staging >= 0);
        CHECK(v.shared() <= hopper);
        CHECK(v.threads % 32 == 0);
        CHECK(v.threads >= 32);
        CHECK(v.threads <= 1024);
        CHECK((v.tile.br > 0 && v.tile.bc > 0));
        CHECK(v.tile.splits == 0);  // any number of parts
    });
}

TEST_CASE("kernels: the default of each dtype and head dimension also runs on an A100, but for those of Hopper alone",
          "[kernels]") {
    const Bytes a100 = gpu_preset("A100-40GB").sram_per_block;
    for_all([&](const Algorithm& a, const KernelVariant& v) {
        CHECK(v.hopper == (a.name == std::string_view("flash_v3")));
        if (v.hopper) return;
        const Problem p = full_tiles(v);
        bool any = false;
        for (const KernelVariant& other : kernels_of(a)) any |= other.serves(p) && other.shared() <= a100;
        CHECK(any);
    });
}

TEST_CASE("kernels: none serves what none has, whatever the feature", "[kernels]") {
    for_all([](const Algorithm&, const KernelVariant& v) {
        Problem pages = full_tiles(v), types = pages, list = pages;
        pages.pages.size = 16;
        types.scores = v.dtype == Dtype::f32 ? Dtype::f16 : Dtype::f32;
        list.passes = passes_from("typed");
        CHECK(v.serves(full_tiles(v)));
        for (const Problem& p : {pages, types, list}) CHECK_FALSE(v.serves(p));
    });
}

TEST_CASE("kernels: those of 8 bits serve Q, K and V that all have them", "[kernels]") {
    int narrow = 0;
    for_all([&](const Algorithm&, const KernelVariant& v) {
        Problem keys_alone = full_tiles(v);
        keys_alone.kv_dtype = Dtype::e4m3;
        if (v.dtype != Dtype::e4m3) {
            CHECK_FALSE(v.serves(keys_alone));
            return;
        }
        ++narrow;
        Problem queries_alone = full_tiles(v), other = queries_alone;
        queries_alone.kv_dtype = Dtype::f16, other.dtype = Dtype::e5m2;
        for (const Scaling scales : {Scaling::none, Scaling::tensor, Scaling::head}) {
            Problem p = full_tiles(v);
            p.scales = scales;
            CHECK(v.serves(p));
        }
        CHECK_FALSE(v.serves(queries_alone));
        CHECK_FALSE(v.serves(other));
    });
    CHECK(narrow >= 2);
}

TEST_CASE("kernels: no two of an algorithm are alike", "[kernels]") {
    for (const Algorithm& a : algorithms()) {
        const auto kernels = kernels_of(a);
        for (std::size_t i = 0; i < kernels.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                INFO(to_string(a, kernels[i]));
                const KernelVariant &x = kernels[i], &y = kernels[j];
                const bool same = x.dtype == y.dtype && x.tile == y.tile && x.dim == y.dim && x.dim_v == y.dim_v;
                CHECK(!same);
            }
    }
}

TEST_CASE("kernels: an algorithm without a kernel.hpp has none", "[kernels]") {
    Algorithm modelled = *find_algorithm("flash_v2");
    modelled.name = "modelled_only";
    CHECK(kernels_of(modelled).empty());
    CHECK(launcher_of(modelled) == nullptr);
}

TEST_CASE("kernels: fp32 of the ladders comes in head dimensions of 32, 64 and 128, and several tiles of each",
          "[kernels]") {
    for (const char* name : {"standard", "three_pass", "two_pass", "flash_v1", "flash_v2", "memory_efficient",
                             "chunked", "softmax_naive", "softmax_safe", "softmax_online"}) {
        const Algorithm& a = *find_algorithm(name);
        std::map<Index, int> tiles;
        for (const KernelVariant& v : kernels_of(a))
            if (v.dtype == Dtype::f32 && v.dim == v.dim_v) ++tiles[v.dim];
        INFO(a.name);
        if (a.computes == &computation::softmax) CHECK(tiles[0] >= 2);
        if (a.computes == &computation::attention)
            for (const Index dim : {32, 64, 128}) CHECK(tiles[dim] >= 2);
    }
}

TEST_CASE("kernels: rows, and slices of a column, start at multiples of 32 bytes on the device", "[kernels]") {
    const auto layout = [](Index rows, Index cols, Dtype t) {
        const DeviceLayout l(rows, cols, t);
        return std::pair(l.row, l.slice);
    };
    CHECK(layout(3, 64, Dtype::f32) == std::pair<Index, Index>(64, 192));
    CHECK(layout(3, 65, Dtype::f32) == std::pair<Index, Index>(72, 216));
    CHECK(layout(17, 1, Dtype::f32) == std::pair<Index, Index>(1, 24));
    CHECK(layout(16, 1, Dtype::f16) == std::pair<Index, Index>(1, 16));
    CHECK(layout(5, 2, Dtype::f16) == std::pair<Index, Index>(16, 80));
    CHECK(layout(5, 17, Dtype::bf16) == std::pair<Index, Index>(32, 160));
}
