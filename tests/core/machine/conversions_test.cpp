#include "core/machine/conversions.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/machine/dtypes.hpp"
#include "tests/support/bits.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/formats.hpp"

using namespace tilescope;
using namespace tilescope::testing;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
using Codes = std::vector<std::uint32_t>;

/// The codes as encode() writes them.
Codes encoded(Dtype t, const std::vector<float>& x, Overflow overflow = Overflow::saturate) {
    const auto size = static_cast<std::size_t>(size_of(t));
    std::vector<std::byte> bytes(x.size() * size);
    encode(t, x.data(), bytes.data(), static_cast<Index>(x.size()), overflow);
    Codes out(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) std::memcpy(&out[k], &bytes[k * size], size);
    return out;
}

std::vector<float> decoded(Dtype t, const Codes& codes) {
    const auto size = static_cast<std::size_t>(size_of(t));
    std::vector<std::byte> bytes(codes.size() * size);
    for (std::size_t k = 0; k < codes.size(); ++k) std::memcpy(&bytes[k * size], &codes[k], size);
    std::vector<float> out(codes.size());
    decode(t, bytes.data(), out.data(), static_cast<Index>(codes.size()));
    return out;
}

std::vector<float> rounded(Dtype t, std::vector<float> x, Overflow overflow = Overflow::saturate) {
    round_to(t, x.data(), static_cast<Index>(x.size()), overflow);
    return x;
}

/// How many of the inputs (no NaNs) encode() or round_to() rounds otherwise than the reference.
int mistakes(const Format& f, const std::vector<float>& x, Overflow overflow) {
    const Codes codes = encoded(f.dtype, x, overflow);
    const std::vector<float> values = rounded(f.dtype, x, overflow);
    int bad = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::uint32_t expected = nearest(f, x[i], overflow);
        const bool right = f.is_nan(expected) ? std::isnan(values[i]) : values[i] == value_of(f, expected);
        bad += codes[i] != expected || !right || std::signbit(values[i]) != std::signbit(x[i]);
    }
    return bad;
}

}  // namespace

TEST_CASE("types of 16 and 8 bits store well-known numbers", "[dtype]") {
    CHECK(encoded(Dtype::f16,
                  {0.0f, -0.0f, 1.0f, -2.5f, 65504.0f, 65519.99f, 65520.0f, 0x1p-24f, 0x1p-25f, 0x1.8p-25f}) ==
          Codes{0, 0x8000, 0x3c00, 0xc100, 0x7bff, 0x7bff, 0x7c00, 0x0001, 0x0000, 0x0001});
    CHECK(encoded(Dtype::bf16, {1.0f, -2.5f, 0x1.01p0f, 0x1.03p0f, 3.3895314e38f, 3.4028235e38f, 0x1p-133f,
                                0x1p-134f}) == Codes{0x3f80, 0xc020, 0x3f80, 0x3f82, 0x7f7f, 0x7f80, 0x0001, 0x0000});
    const std::vector<float> x{0.0f, -0.0f, 1.0f, -1.25f, 0x1p-6f, 0x1p-9f, 0x1p-10f, 0x1.8p-10f, 448, 464};
    CHECK(encoded(Dtype::e4m3, x) == Codes{0, 0x80, 0x38, 0xba, 0x08, 0x01, 0x00, 0x01, 0x7e, 0x7e});
    const std::vector<float> y{0.0f, -0.0f, 1.0f, -1.25f, 0x1p-14f, 0x1p-16f, 0x1p-17f, 0x1.8p-17f, 57344, 61439};
    CHECK(encoded(Dtype::e5m2, y) == Codes{0, 0x80, 0x3c, 0xbd, 0x04, 0x01, 0x00, 0x01, 0x7b, 0x7b});
}

TEST_CASE("what is too large becomes the largest number in 8 bits, or else infinity or NaN", "[dtype]") {
    CHECK(encoded(Dtype::e4m3, {464.001f, -1e9f, infinity}) == Codes{0x7e, 0xfe, 0x7e});
    CHECK(encoded(Dtype::e4m3, {464, 464.001f, -1e9f, infinity}, Overflow::not_finite) ==
          Codes{0x7e, 0x7f, 0xff, 0x7f});
    CHECK(encoded(Dtype::e5m2, {61440, -1e9f, infinity}) == Codes{0x7b, 0xfb, 0x7b});
    CHECK(encoded(Dtype::e5m2, {61439, 61440, -1e9f, infinity}, Overflow::not_finite) == Codes{0x7b, 0x7c, 0xfc, 0x7c});
    for (const Overflow overflow : {Overflow::saturate, Overflow::not_finite}) {
        CHECK(encoded(Dtype::f16, {65520, -infinity}, overflow) == Codes{0x7c00, 0xfc00});
        CHECK(rounded(Dtype::f16, {65520}, overflow) == std::vector{infinity});
        CHECK(encoded(Dtype::i8, {127.5f, -1e9f, infinity}, overflow) == Codes{127, 0x81, 127});
    }
}

TEST_CASE("every code of 16 or 8 bits decodes to its value and encodes back to itself", "[dtype]") {
    const Format f = GENERATE(f16, bf16, e4m3, e5m2);
    const Codes codes = every_code(f);
    const std::vector<float> values = decoded(f.dtype, codes);
    const Codes back = encoded(f.dtype, values, Overflow::not_finite);
    int wrong_value = 0, wrong_code = 0, lost_nan = 0, nans = 0;
    float greatest = 0;
    for (const std::uint32_t k : codes) {
        nans += f.is_nan(k);
        if (f.is_nan(k)) {
            lost_nan += !std::isnan(values[k]) || !f.is_nan(back[k]);
        } else {
            wrong_value += values[k] != value_of(f, k) || std::signbit(values[k]) != ((k & f.sign_bit()) != 0);
            wrong_code += back[k] != k;
            if (std::isfinite(values[k])) greatest = std::max(greatest, values[k]);
        }
    }
    CHECK(wrong_value == 0);
    CHECK(wrong_code == 0);
    CHECK(lost_nan == 0);
    CHECK(greatest == largest(f.dtype));
    CHECK(nans == (f.infinity ? 2 * ((1 << f.mantissa_bits) - 1) : 2));
}

TEST_CASE("halfway between two neighbours the even one wins, beside it the nearer one", "[dtype]") {
    const Format f = GENERATE(f16, bf16, e4m3, e5m2);
    std::vector<float> at, below, above;
    for (const Middle& m : middles(f)) at.push_back(m.at), below.push_back(m.below), above.push_back(m.above);
    const Overflow all = Overflow::not_finite;
    const Codes to = encoded(f.dtype, at, all), under = encoded(f.dtype, below, all),
                over = encoded(f.dtype, above, all);
    int bad = 0;
    for (std::uint32_t i = 0; i < f.past(); ++i) bad += to[i] != i + i % 2 || under[i] != i || over[i] != i + 1;
    CHECK(bad == 0);
}

TEST_CASE("rounding agrees with integer arithmetic on the bits", "[dtype]") {
    const Format f = GENERATE(f16, bf16, e4m3, e5m2);
    const Overflow overflow = GENERATE(Overflow::saturate, Overflow::not_finite);
    SECTION("for all numbers of 16 bits, and around all that lies halfway between neighbours") {
        CHECK(mistakes(f, probes(f), overflow) == 0);
    }
    SECTION("over all exponents and signs, around every kind of mantissa") {
        std::vector<float> x;
        for (std::uint32_t high = 0; high < 512; ++high) {
            if ((high & 0xff) == 0xff) continue;  // infinities and NaNs
            for (int bit = -1; bit < 23; ++bit)
                for (int other = -1; other < 23; ++other)
                    for (std::uint32_t fill : {0u, 0x7fffffu, 1u}) {
                        const std::uint32_t flip = (bit < 0 ? 0u : 1u << bit) ^ (other < 0 ? 0u : 1u << other);
                        x.push_back(bits_of<float>(high << 23 | (fill ^ flip)));
                    }
        }
        CHECK(mistakes(f, x, overflow) == 0);
    }
    SECTION("for random bits") {
        std::mt19937 random(7);
        std::vector<float> x;
        while (x.size() < 1'000'000)
            if (const float v = bits_of<float>(static_cast<std::uint32_t>(random())); !std::isnan(v)) x.push_back(v);
        CHECK(mistakes(f, x, overflow) == 0);
    }
    SECTION("at the ends") {
        const float greatest = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
        CHECK(mistakes(f, {0.0f, -0.0f, infinity, -infinity, greatest, -greatest, least, -least}, overflow) == 0);
    }
}

TEST_CASE("a NaN stays a NaN", "[dtype]") {
    const Format f = GENERATE(f16, bf16, e4m3, e5m2);
    const Overflow overflow = GENERATE(Overflow::saturate, Overflow::not_finite);
    for (const std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, 0x7fffffffu, 0x7f802000u}) {
        const std::vector<float> x(9, bits_of<float>(bits));  // enough for vector instructions and a remainder
        for (const std::uint32_t code : encoded(f.dtype, x, overflow)) CHECK(f.is_nan(code));
        for (const float v : rounded(f.dtype, x, overflow)) CHECK(std::isnan(v));
    }
}

TEST_CASE("i8 stores the nearest whole numbers from -127 to 127, and 0 for a NaN", "[dtype]") {
    std::vector<float> x{0.0f, -0.0f, infinity, -infinity, bits_of<float>(0x7fc00000u), bits_of<float>(0xff800001u)};
    for (float v = -130; v <= 130; v += 0.25f)
        for (const float beside : {-infinity, infinity}) x.push_back(v), x.push_back(std::nextafter(v, beside));
    std::mt19937 random(7);
    while (x.size() < 100'000) x.push_back(bits_of<float>(static_cast<std::uint32_t>(random())));
    const std::vector<float> values = rounded(Dtype::i8, x), stored = decoded(Dtype::i8, encoded(Dtype::i8, x));
    int bad = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
        const float whole = std::isnan(x[k]) ? 0.0f : std::nearbyint(std::clamp(x[k], -127.0f, 127.0f)) + 0.0f;
        bad += values[k] != whole || stored[k] != whole || (whole == 0 && std::signbit(values[k]));
    }
    CHECK(bad == 0);
    CHECK(decoded(Dtype::i8, {0x80, 0x81, 0xff, 0, 0x7f}) == std::vector<float>{-128, -127, -1, 0, 127});
    CHECK(largest(Dtype::i8) == 127);
}

TEST_CASE("f32 is stored as it is", "[dtype]") {
    const std::vector<float> x{
        1.1f, -0.0f, infinity, std::numeric_limits<float>::denorm_min(), 1e38f, bits_of<float>(0x7fc12345u)};
    const auto n = static_cast<Index>(x.size());
    std::vector<float> stored(x.size()), back(x.size()), rounded = x;
    encode(Dtype::f32, x.data(), reinterpret_cast<std::byte*>(stored.data()), n);
    decode(Dtype::f32, reinterpret_cast<const std::byte*>(stored.data()), back.data(), n);
    round_to(Dtype::f32, rounded.data(), n);
    CHECK(std::memcmp(back.data(), x.data(), x.size() * sizeof(float)) == 0);
    CHECK(std::memcmp(rounded.data(), x.data(), x.size() * sizeof(float)) == 0);
}

TEST_CASE("short runs round like long ones", "[dtype]") {
    const Dtype t = GENERATE(values(number_dtypes));
    std::vector<float> x(67);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = std::sin(static_cast<float>(i)) * (t == Dtype::i8 ? 99.0f : 1e-1f);
    const Codes all = encoded(t, x);
    const std::vector<float> exact = rounded(t, x);
    for (std::size_t n = 0; n <= x.size(); ++n) {
        const auto end = static_cast<std::ptrdiff_t>(n);
        const std::vector<float> some(x.begin(), x.begin() + end);
        CHECK(encoded(t, some) == Codes(all.begin(), all.begin() + end));
        CHECK(rounded(t, some) == std::vector<float>(exact.begin(), exact.begin() + end));
        CHECK(decoded(t, encoded(t, some)) == rounded(t, some));
    }
}
