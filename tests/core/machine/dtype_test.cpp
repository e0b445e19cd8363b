#include "core/machine/dtype.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/machine/storage.hpp"
#include "tests/support/bits.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::uint32_t all_patterns = 1u << 16;

/// A 16-bit floating-point format: a sign bit, exponent and mantissa.
struct Format {
    Dtype dtype;
    int mantissa_bits, bias;
};
constexpr Format f16{Dtype::f16, 10, 15}, bf16{Dtype::bf16, 7, 127};

std::uint32_t exponent_mask(Format f) { return (1u << (15 - f.mantissa_bits)) - 1; }
std::uint32_t infinity_bits(Format f) { return exponent_mask(f) << f.mantissa_bits; }
bool is_nan(Format f, std::uint32_t bits) { return (bits & 0x7fff) > infinity_bits(f); }

/// The value of a bit pattern that is not a NaN, by the definition of the format.
double value_of(Format f, std::uint32_t bits) {
    const double sign = bits & 0x8000 ? -1 : 1;
    const auto exponent = static_cast<int>(bits >> f.mantissa_bits & exponent_mask(f));
    const auto mantissa = static_cast<int>(bits & ((1u << f.mantissa_bits) - 1));
    if (exponent == static_cast<int>(exponent_mask(f))) return sign * static_cast<double>(infinity);
    const int hidden = exponent > 0 ? 1 << f.mantissa_bits : 0;
    return sign * std::ldexp(hidden + mantissa, std::max(exponent, 1) - f.bias - f.mantissa_bits);
}

/// The bit pattern nearest to x (not a NaN), ties to even, by integer arithmetic on the bits of x.
std::uint32_t nearest(Format f, float x) {
    const auto bits = testing::bits_of<std::uint32_t>(x);
    const std::uint32_t sign = bits >> 16 & 0x8000;
    if ((bits & 0x7fffffff) == 0x7f800000) return sign | infinity_bits(f);
    const auto field = static_cast<int>(bits >> 23 & 0xff);
    // x = significand x 2^exponent, with a significand below 2^24.
    const std::uint64_t significand = (bits & 0x7fffff) | (field > 0 ? 0x800000u : 0u);
    const int exponent = std::max(field, 1) - 127 - 23;
    // The format's grid around x has steps of 2^step: finer for smaller numbers, until they become subnormal.
    const int step = std::max(std::max(field, 1) - 127, 1 - f.bias) - f.mantissa_bits;
    const int drop = std::min(step - exponent, 40);
    std::uint64_t steps = significand >> drop;
    const std::uint64_t rest = significand - (steps << drop), half = std::uint64_t{1} << (drop - 1);
    if (rest > half || (rest == half && steps % 2 == 1)) ++steps;
    // Adding the steps to the exponent field carries into it exactly where it should, up to infinity.
    const auto base = static_cast<std::uint64_t>(std::max(step + f.mantissa_bits + f.bias, 1));
    const std::uint64_t hidden = std::uint64_t{1} << f.mantissa_bits;
    const std::uint64_t pattern = steps < hidden ? steps : (base << f.mantissa_bits) + (steps - hidden);
    return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(pattern, infinity_bits(f)));
}

std::vector<std::uint16_t> encoded(Format f, const std::vector<float>& x) {
    std::vector<std::uint16_t> out(x.size());
    encode(f.dtype, x.data(), reinterpret_cast<std::byte*>(out.data()), static_cast<Index>(x.size()));
    return out;
}

std::vector<float> decoded(Format f, const std::vector<std::uint16_t>& bits) {
    std::vector<float> out(bits.size());
    decode(f.dtype, reinterpret_cast<const std::byte*>(bits.data()), out.data(), static_cast<Index>(bits.size()));
    return out;
}

std::vector<std::uint16_t> every_pattern() {
    std::vector<std::uint16_t> out(all_patterns);
    for (std::uint32_t i = 0; i < all_patterns; ++i) out[i] = static_cast<std::uint16_t>(i);
    return out;
}

/// How many of the inputs (no NaNs) encode() or round_to() rounds otherwise than the reference.
int mistakes(Format f, const std::vector<float>& x) {
    const std::vector<std::uint16_t> bits = encoded(f, x);
    std::vector<float> rounded = x;
    round_to(f.dtype, rounded.data(), static_cast<Index>(x.size()));
    int bad = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::uint32_t expected = nearest(f, x[i]);
        const bool sign_kept = std::signbit(rounded[i]) == std::signbit(x[i]);
        bad += bits[i] != expected || rounded[i] != value_of(f, expected) || !sign_kept;
    }
    return bad;
}

}  // namespace

TEST_CASE("storage types have names and sizes", "[dtype]") {
    CHECK(size_of(Dtype::f32) == 4);
    CHECK(size_of(Dtype::f16) == 2);
    CHECK(size_of(Dtype::bf16) == 2);
    for (const Dtype t : {Dtype::f32, Dtype::f16, Dtype::bf16}) CHECK(dtype_from(name_of(t)) == t);
    CHECK(std::string_view(name_of(Dtype::bf16)) == "bf16");
    CHECK_FALSE(dtype_from("f64"));
    CHECK_FALSE(dtype_from(""));
    CHECK_FALSE(dtype_from("F16"));
}

TEST_CASE("the 16-bit types store well-known numbers", "[dtype]") {
    const std::vector<float> x{0.0f, -0.0f, 1.0f, -2.5f, 65504.0f, 65519.99f, 65520.0f, 0x1p-24f, 0x1p-25f, 0x1.8p-25f};
    CHECK(encoded(f16, x) ==
          std::vector<std::uint16_t>{0, 0x8000, 0x3c00, 0xc100, 0x7bff, 0x7bff, 0x7c00, 0x0001, 0x0000, 0x0001});
    const std::vector<float> y{1.0f, -2.5f, 0x1.01p0f, 0x1.03p0f, 3.3895314e38f, 3.4028235e38f, 0x1p-133f, 0x1p-134f};
    CHECK(encoded(bf16, y) ==
          std::vector<std::uint16_t>{0x3f80, 0xc020, 0x3f80, 0x3f82, 0x7f7f, 0x7f80, 0x0001, 0x0000});
}

TEST_CASE("every 16-bit pattern decodes to its value and encodes back to itself", "[dtype]") {
    const Format f = GENERATE(f16, bf16);
    const std::vector<float> values = decoded(f, every_pattern());
    const std::vector<std::uint16_t> back = encoded(f, values);
    int wrong_value = 0, wrong_pattern = 0, lost_nan = 0;
    for (std::uint32_t i = 0; i < all_patterns; ++i) {
        if (is_nan(f, i)) {
            lost_nan += !std::isnan(values[i]) || !is_nan(f, back[i]);
        } else {
            wrong_value += values[i] != value_of(f, i) || std::signbit(values[i]) != ((i & 0x8000) != 0);
            wrong_pattern += back[i] != i;
        }
    }
    CHECK(wrong_value == 0);
    CHECK(wrong_pattern == 0);
    CHECK(lost_nan == 0);
}

TEST_CASE("halfway between two neighbours the even one wins, beside it the nearer one", "[dtype]") {
    const Format f = GENERATE(f16, bf16);
    std::vector<float> middle, below, above;
    for (std::uint32_t i = 0; i + 1 < infinity_bits(f); ++i) {
        const auto m = static_cast<float>((value_of(f, i) + value_of(f, i + 1)) / 2);
        middle.push_back(m);
        below.push_back(std::nextafter(m, 0.0f));
        above.push_back(std::nextafter(m, infinity));
    }
    const std::vector<std::uint16_t> at = encoded(f, middle), under = encoded(f, below), over = encoded(f, above);
    int bad = 0;
    for (std::uint32_t i = 0; i + 1 < infinity_bits(f); ++i)
        bad += at[i] != i + i % 2 || under[i] != i || over[i] != i + 1;
    CHECK(bad == 0);
}

TEST_CASE("rounding agrees with integer arithmetic on the bits", "[dtype]") {
    const Format f = GENERATE(f16, bf16);
    SECTION("over all exponents and signs, around every kind of mantissa") {
        std::vector<float> x;
        for (std::uint32_t high = 0; high < 512; ++high) {
            if ((high & 0xff) == 0xff) continue;  // infinities and NaNs
            for (int bit = -1; bit < 23; ++bit)
                for (int other = -1; other < 23; ++other)
                    for (std::uint32_t fill : {0u, 0x7fffffu, 1u}) {
                        const std::uint32_t flip = (bit < 0 ? 0u : 1u << bit) ^ (other < 0 ? 0u : 1u << other);
                        x.push_back(testing::bits_of<float>(high << 23 | (fill ^ flip)));
                    }
        }
        CHECK(mistakes(f, x) == 0);
    }
    SECTION("for random bits") {
        std::mt19937 random(7);
        std::vector<float> x;
        while (x.size() < 1'000'000)
            if (const float v = testing::bits_of<float>(static_cast<std::uint32_t>(random())); !std::isnan(v))
                x.push_back(v);
        CHECK(mistakes(f, x) == 0);
    }
    SECTION("at the ends") {
        const float greatest = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
        CHECK(mistakes(f, {0.0f, -0.0f, infinity, -infinity, greatest, -greatest, least, -least}) == 0);
    }
}

TEST_CASE("a NaN stays a NaN", "[dtype]") {
    const Format f = GENERATE(f16, bf16);
    for (const std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, 0x7fffffffu, 0x7f802000u}) {
        std::vector<float> x(9, testing::bits_of<float>(bits));  // enough for vector instructions and a remainder
        for (const std::uint16_t b : encoded(f, x)) CHECK(is_nan(f, b));
        round_to(f.dtype, x.data(), static_cast<Index>(x.size()));
        for (const float v : x) CHECK(std::isnan(v));
    }
}

TEST_CASE("f32 is stored as it is", "[dtype]") {
    const std::vector<float> x{
        1.1f, -0.0f, infinity, std::numeric_limits<float>::denorm_min(), 1e38f, testing::bits_of<float>(0x7fc12345u)};
    const auto n = static_cast<Index>(x.size());
    std::vector<float> stored(x.size()), back(x.size()), rounded = x;
    encode(Dtype::f32, x.data(), reinterpret_cast<std::byte*>(stored.data()), n);
    decode(Dtype::f32, reinterpret_cast<const std::byte*>(stored.data()), back.data(), n);
    round_to(Dtype::f32, rounded.data(), n);
    CHECK(std::memcmp(back.data(), x.data(), x.size() * sizeof(float)) == 0);
    CHECK(std::memcmp(rounded.data(), x.data(), x.size() * sizeof(float)) == 0);
}

TEST_CASE("short runs round like long ones", "[dtype]") {
    const Format f = GENERATE(f16, bf16);
    std::vector<float> x(33);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * 1e-3f;
    const std::vector<std::uint16_t> all = encoded(f, x);
    for (std::size_t n = 0; n <= x.size(); ++n) {
        const std::vector<float> some(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
        CHECK(encoded(f, some) ==
              std::vector<std::uint16_t>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)));
    }
}

TEST_CASE("a new tensor holds NaN until it is written", "[storage]") {
    const Dtype dtype = GENERATE(Dtype::f32, Dtype::f16, Dtype::bf16);
    Storage s(dtype, 2, 3, 4);
    CHECK(s.size() == 24);
    CHECK(s.bytes() == 24 * size_of(dtype));
    std::vector<float> x(24);
    s.read(0, x);
    for (const float v : x) CHECK(std::isnan(v));
}

TEST_CASE("a rectangle of a tensor is read and written in place", "[storage]") {
    const Dtype dtype = GENERATE(Dtype::f32, Dtype::f16, Dtype::bf16);
    Storage s(dtype, 2, 5, 6);
    std::vector<float> model(60);
    for (std::size_t i = 0; i < model.size(); ++i) model[i] = static_cast<float>(i);
    s.write(0, model);
    float next = 100;
    for (const Span rows : {Span{0, 5}, Span{1, 3}, Span{4, 1}, Span{2, 0}})
        for (const Span cols : {Span{0, 6}, Span{2, 3}, Span{5, 1}}) {
            std::vector<float> part(static_cast<std::size_t>(rows.size * cols.size));
            for (float& v : part) v = next++;
            s.write(1, rows, cols, part.data());
            for (Index r = 0; r < rows.size; ++r)
                for (Index c = 0; c < cols.size; ++c)
                    model[static_cast<std::size_t>((5 + rows.begin + r) * 6 + cols.begin + c)] =
                        part[static_cast<std::size_t>(r * cols.size + c)];
            round_to(dtype, model.data(), 60);
            std::vector<float> all(60), again(part.size());
            s.read(0, all);
            s.read(1, rows, cols, again.data());
            round_to(dtype, part.data(), static_cast<Index>(part.size()));
            CHECK(all == model);
            CHECK(again == part);
        }
}
