// How tensor cores add products of 8 bits: as an H200 does, as whole numbers do, and what programs make of it.
#include "algorithms/contract/accumulator.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/registry.hpp"
#include "core/machine/conversions.hpp"
#include "core/machine/tensor_core_sum.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/run/reference.hpp"
#include "tests/support/bits.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::testing;

namespace {

/// 32 products and a number before them, as codes, and what wgmma made of them.
struct Measured {
    Dtype type;
    const char *a, *b;
    std::uint32_t before, sum;
};
// NVIDIA H200, driver 580.159.04, 2026-12-01: bench/float8_accumulation.cu --sums 60.
constexpr Measured measured[] = {
    {Dtype::e4m3, "0000480000003ac5a400c300b0309d0000cea400acd70024cb4f420044000000",
     "000050000000430000b7412e9e0051323dd3b6b6009b000052b900d4a54ccda7", 0xbbfa7596, 0x422b2c00},
    {Dtype::e4m3, "c62adbe8f04206f38cd74e0312641ac6bacde95f835e4e6104551a6c7516435b",
     "686e0c70bb8c360f5b8353c205b4aa55243108d9438d856522854cf53e016a5a", 0xbbe146c2, 0xc6c9cc00},
    {Dtype::e4m3, "b50032bf33bb000000b631003cb138b9bd3ebfb700ba3b3c00343ab8beb70038",
     "b9b53100b23c373cbb39b63438bf003300b03700b50035b73a39b53532b5bf30", 0x00000000, 0xc0952000},
    {Dtype::e4m3, "4a9b10356da64d1ed61c3113e3a69d5ecf8bd4b3b1e0c037c1ddba32073f3255",
     "2051a3ea0801d0104b45cbb3a66bbe9d942dbb55cc982016523c3cdfd6933582", 0xbf1a884d, 0xc38a8c00},
    {Dtype::e4m3, "23aacac90044a0aeccd2cba250d71aaba2499d511fd7349ac0d5cebabe182bd4",
     "1e542b2b5240001e43c400d34418001d38384a30a2d2b2419a2caf22229bc4d0", 0xc04db7a2, 0x438e5c00},
    {Dtype::e4m3, "30b63000003ab2bb00be00b73f003f3a00333331360034be003a300030003400",
     "0000003000bf00003e3c00b431bab034b800bdb1bfbabf3b00b9003700bd00b7", 0xc03cdb64, 0xc1674400},
    {Dtype::e4m3, "0057f400c042000ecf00a6c6005f00dc75034c0000f5010042002d02a39c975f",
     "1400f7234f0000c800da001fe8800000eaf04eaade0000000000001f0080d197", 0x00000000, 0x46e63800},
    {Dtype::e4m3, "0000bfa10015c700b400002e00538b9c2f4ecd00008e000fe235d0d009a994ca",
     "000000009d2e005c0051da00c200459100a70000a559002ab2c600afe4000000", 0x42cb2e33, 0x42f8f400},
    {Dtype::e4m3, "3b185416d5c566b70094e48be6bb53d3931bd73833b3af1e2b2d0d1b0090e3b5",
     "2025e300dba22f64ac1e24114fc00032380061000f98c1374cbb00e100600060", 0x3bb49a22, 0xc49d9400},
    {Dtype::e4m3, "00c5001926002ca5c9009b2400df543b9e513c00003900251c00000019000000",
     "002700b4ab0000905000cb00000047c800b85e2ec622180000dd002fba00001e", 0x3f7b61b2, 0x4214a400},
    {Dtype::e4m3, "00bf00000000000000000000002dbabd0029432b000000b53800b8b6b2003f3f",
     "00ae2f370000002f0000c60000003400bb3600b8423ebf2d3a3200c6c135bcb3", 0x00000000, 0x3f894000},
    {Dtype::e4m3, "3632b3b4310030ba00b43737333e00003200b1bc0000003833000034003132b7",
     "b70000b73300320030b5b300b5b43c36bab83b0034003cb6b237bb3bbbbd3cba", 0xbf937f9a, 0xc046fc00},
    {Dtype::e4m3, "4100004c4c00a5b40023002da5cfab3b000000aec649004e004400b2ba000022",
     "00c43fcf00394500cd00b30000ccac0000b9ae2b0000004600c8003645000038", 0x00000000, 0x40ebb000},
    {Dtype::e4m3, "a931e2448d8dc1003d9ae5900013936f00d4000000ba440081a6350000b638e1",
     "d0580000d04b2ba24200284700000050cba60b1c316200000090bdad1e005e00", 0x400fc2a2, 0x446bc400},
    {Dtype::e5m2, "0000240000003ec1d000e300d818ad0000c6d00094ab0010c747620040000000",
     "000068000000630000db61368e00693a5dabbada008f00002abd00a8b124c5b3", 0xb3fa7596, 0xc90bb400},
    {Dtype::e5m2, "c236cfd4d84222dba4cb46232a502ec2bec5d54fa34e46511c492e54592a434f",
     "54562458bfa43a274fa34bc21db8b649303924cd43a5a15132a144d93e1d564e", 0xbbe146c2, 0xc67ac000},
    {Dtype::e5m2, "990022df339f000000a2390034c934ad9d5ea7bb00c6275400402eccbe9b0024",
     "9dc15100ca542b54d725da204caf004b00b85300d10029ab265599513299a758", 0x00000000, 0xc4467800},
    {Dtype::e5m2, "46af283955b2452eca2c392bd3b2ad4ec7a7c8bbb9d0c03bc1cdbe3a233f3a49",
     "3049b3d62421c8284741c7bbb257beada835bf49c4ac302a4a3c3ccfcaab39a2", 0xbf1a884d, 0xc3837000},
    {Dtype::e5m2, "33b6c6c50040b0b6c4cac7b248cb2eb7b245ad492fcb38aec0c9c6bebe2c37c8",
     "2e4837374a40002e43c000cb402c002d3c3c4638b2caba41ae34b73232afc0c8", 0xc04db7a2, 0x43822000},
    {Dtype::e5m2, "20da4000003ebaa700a600a34700571e001b23512a0058b60046400028005000",
     "0000001800cf0000265c00a0319ea0489c00bdb1c7a6af3700c5004b00b500a3", 0xc23cdb64, 0xc311b400},
    {Dtype::e5m2, "004bd800c0422026c700b2c2004f00cc591f440000d9210042003522b3acab4f",
     "2800db33470000c400ce002fd49c0000d6d846b6ce0000000000002f00a0c9ab", 0x00000000, 0x46502800},
    {Dtype::e5m2, "0000dfd100699300b8000056005ba79c5736e50000c600379259b88845d598e6",
     "00000000bd66004c0039de00c20061e900930000b11d0046caf20097c0000000", 0x46cb2e33, 0x49f32800},
    {Dtype::e5m2, "3f2c482ac9c152bb00a8d0a7d2bf4bcbab2fcb3c3bbbb72e3735252f00a8d3b9",
     "3031d300cfb23750b42e302947c0003a3c00510027acc13b44bf00d100500050", 0x3bb49a22, 0xc48a0800},
    {Dtype::e5m2, "00e1001542004cd9a500bf4800a73067be415400002d0069540000003d000000",
     "003b00c0cf0000a04800e70000006be400ec660eea1a1400008d00478e00002e", 0x337b61b2, 0xc9d4e400},
    {Dtype::e5m2, "00bf000000000000000000000015be9d00155317000000b93c00dc9a9a005f2f",
     "00c6575b000000470000e20000005800af1a009c225ecf454e4a00a2c1199cdb", 0x00000000, 0xc33ae000},
    {Dtype::e5m2, "3a3abbb8390038be00b83b3b3b3e00003a00b9bc0000003c3b00003800393abb",
     "bb0000bb3b003a0038b9bb00b9b83c3abebc3f0038003cbaba3bbf3fbfbd3cbe", 0xbf937f9a, 0xc06abc00},
    {Dtype::e5m2, "410000444400b1b800330035b1c7b73f000000b6c2450046004000babe000032",
     "00c03fc7003d4100c500bb0000c4b40000bdb6370000004200c4003a4100003c", 0x00000000, 0x40adc000},
    {Dtype::e5m2, "8549da18b5ddc9001deef1c00043eb6f00a8000000ce680081ba010000ba24c1",
     "80140000e027478a0200047300000030af9a670c696a000000b08dbd46007600", 0x320fc2a2, 0xc7c55400},
};

std::vector<float> decoded(Dtype type, const std::string& codes) {
    std::vector<std::byte> bytes;
    for (std::size_t at = 0; at < codes.size(); at += 2)
        bytes.push_back(static_cast<std::byte>(std::stoi(codes.substr(at, 2), nullptr, 16)));
    std::vector<float> all(bytes.size());
    decode(type, bytes.data(), all.data(), static_cast<Index>(all.size()));
    return all;
}

/// x = whole 2^last, and the exponent that counts beside others.
struct Whole {
    std::int64_t whole = 0;
    int last = 0, exponent = 0;
};
Whole whole_of(float x, int bits, int least) {
    if (x == 0) return {};
    const int exponent = std::max(std::ilogb(x), least);
    return {static_cast<std::int64_t>(std::ldexp(static_cast<double>(x), bits - exponent)), exponent - bits, exponent};
}

std::int64_t cut(std::int64_t x, int places) {
    const std::int64_t magnitude = places > 62 ? 0 : std::abs(x) >> places;
    return x < 0 ? -magnitude : magnitude;
}

/// The same sum by whole numbers alone, one element at a time.
float sum_by_whole_numbers(Dtype type, const float* a, const float* b, Index stride, Index k, float c, int bits) {
    const int fraction = type == Dtype::e4m3 ? 3 : 2, least = type == Dtype::e4m3 ? -6 : -14;
    for (Index first = 0; first < k; first += 32) {
        std::vector<Whole> all = {whole_of(c, 23, -126)};
        for (Index l = first; l < std::min<Index>(first + 32, k); ++l) {
            const Whole x = whole_of(a[l], fraction, least), y = whole_of(b[l * stride], fraction, least);
            all.push_back({x.whole * y.whole, x.last + y.last, x.exponent + y.exponent});
        }
        int greatest = -1000;
        for (const Whole& x : all)
            if (x.whole != 0) greatest = std::max(greatest, x.exponent);
        std::int64_t sum = 0;
        for (const Whole& x : all) {
            const int places = greatest - bits - x.last;
            sum += places >= 0 ? cut(x.whole, places) : x.whole << -places;
        }
        int extra = 0;
        while (std::abs(sum) >> extra >> (bits + 1) != 0) ++extra;
        c = std::ldexp(static_cast<float>(cut(sum, extra)), greatest - bits + extra);
    }
    return c;
}

constexpr Dtype types[] = {Dtype::e4m3, Dtype::e5m2};

/// Random codes of a type, some of them 0; exponents within `spread` of 1.
std::vector<float> random_values(Dtype type, Index n, int spread, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<float> all(static_cast<std::size_t>(n));
    for (float& x : all) {
        const int e = static_cast<int>(random() % static_cast<unsigned>(2 * spread)) - spread;
        x = random() % 5 == 0 ? 0 : std::ldexp(1 + static_cast<float>(random() % 8) / 8, e);
        if (random() % 2 == 0) x = -x;
    }
    round_to(type, all.data(), n);
    return all;
}

Case flash(Dtype type, std::optional<Index> bits, Index n = 96) {
    Case c{{}, {}, 1};
    c.problem.batch = 1, c.problem.heads = c.problem.kv_heads = 1;
    c.problem.seq_q = c.problem.seq_k = n, c.problem.dim = c.problem.dim_v = 64;
    c.problem.dtype = type, c.problem.sum_bits = bits;
    return c;
}

std::vector<float> output_of(const Case& c, const char* gpu) {
    const Algorithm& a = *find_algorithm("flash_v3");
    return contents(*run(a, c, gpu_preset(gpu), numeric_mode, inputs_for(a, c)).output().data);
}

}  // namespace

TEST_CASE("sums of 8-bit products are an H200's, bit for bit", "[accumulator][numbers]") {
    for (const Measured& m : measured) {
        CAPTURE(name_of(m.type), m.a, m.b, m.before);
        float sum = bits_of<float>(m.before);
        const std::vector<float> a = decoded(m.type, m.a), b = decoded(m.type, m.b);
        add_products(&sum, a.data(), b.data(), 1, 1, static_cast<Index>(a.size()), m.type, 13);
        CHECK(bits_of<std::uint32_t>(sum) == m.sum);
    }
}

TEST_CASE("sums of 8-bit products are those of whole numbers, for all bits", "[accumulator][numbers]") {
    constexpr Index m = 3, n = 5;
    for (const Dtype type : types)
        for (const int bits : {1, 8, 12, 13, 14, 16})
            for (const Index k : {1, 31, 32, 33, 96, 100})
                for (const int spread : {1, 4, 12}) {
                    CAPTURE(name_of(type), bits, k, spread);
                    const auto seed = static_cast<std::uint64_t>(bits * 1000 + k * 10 + spread);
                    const std::vector<float> a = random_values(type, m * k, spread, seed),
                                             b = random_values(type, k * n, spread, seed + 1);
                    std::vector<float> c = random_values(Dtype::f32, m * n, spread, seed + 2);
                    for (std::size_t i = 0; i < c.size(); i += 2) c[i] *= 1.2345671F;
                    const std::vector<float> before = c;
                    add_products(c.data(), a.data(), b.data(), m, n, k, type, bits);
                    for (Index i = 0; i < m; ++i)
                        for (Index j = 0; j < n; ++j) {
                            const auto at = static_cast<std::size_t>(i * n + j);
                            CHECK(c[at] == sum_by_whole_numbers(type, &a[static_cast<std::size_t>(i * k)],
                                                                &b[static_cast<std::size_t>(j)], n, k, before[at],
                                                                bits));
                        }
                }
}

TEST_CASE("sums with values that are not finite are those of f32", "[accumulator][numbers]") {
    const float inf = std::numeric_limits<float>::infinity();
    float sum = 1;
    const float a[] = {inf, 1}, b[] = {2, 3};
    add_products(&sum, a, b, 1, 1, 2, Dtype::e5m2, 13);
    CHECK(sum == inf);
}

TEST_CASE("sums are a GPU's where they were measured, and what --accumulator says", "[accumulator][numbers]") {
    const Problem e4m3 = flash(Dtype::e4m3, std::nullopt).problem, f16 = flash(Dtype::f16, std::nullopt).problem;
    for (const char* hopper : {"H100", "H200"}) CHECK(sum_bits(e4m3, gpu_preset(hopper)) == 13);
    CHECK(sum_bits(e4m3, gpu_preset("A100")) == 0);
    CHECK(sum_bits(f16, gpu_preset("H100")) == 0);
    CHECK(sum_bits(flash(Dtype::e5m2, 9).problem, gpu_preset("A100")) == 9);
    CHECK(sum_bits(flash(Dtype::e4m3, 0).problem, gpu_preset("H100")) == 0);
    for (const Dtype type : types) {
        CAPTURE(name_of(type));
        const std::vector<float> measured_sums = output_of(flash(type, std::nullopt), "H100");
        CHECK(measured_sums == output_of(flash(type, 13), "A100"));
        CHECK(measured_sums != output_of(flash(type, 0), "H100"));
        CHECK(output_of(flash(type, 0), "H100") == output_of(flash(type, std::nullopt), "A100"));
    }
}

TEST_CASE("fewer bits of a sum are more error", "[accumulator][numbers]") {
    const Algorithm& a = *find_algorithm("flash_v3");
    double before = 0;
    for (const Index bits : {16, 13, 10, 8}) {
        const Case c = flash(Dtype::e4m3, bits, 512), in_f32 = flash(Dtype::e4m3, 0, 512);
        const std::vector<float> cut_sums = output_of(c, "H100"), exact = output_of(in_f32, "H100");
        double squares = 0;
        for (std::size_t i = 0; i < exact.size(); ++i) squares += std::pow(cut_sums[i] - exact[i], 2);
        CAPTURE(bits, squares, a.name);
        CHECK(squares > 2 * before);
        before = squares;
    }
}

TEST_CASE("what --accumulator says is read as it is written", "[accumulator]") {
    Problem p;
    for (const char* text : {"gpu", "f32", "8", "13", "16"}) {
        CHECK(set_accumulator(p, text));
        CHECK(name_of_accumulator(p) == text);
    }
    for (const char* text : {"", "0", "f16", "13.5"}) CHECK_FALSE(set_accumulator(p, text));
}
