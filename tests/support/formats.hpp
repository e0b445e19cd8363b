// Floating-point formats by their definition and by integer arithmetic: a reference that shares no code with the
// conversions of core/machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/machine/conversions.hpp"
#include "tests/support/bits.hpp"

namespace tilescope::testing {

/// A sign bit, an exponent and a mantissa; without infinity, the code of ones is the only NaN beside its negative.
struct Format {
    Dtype dtype;
    int exponent_bits, mantissa_bits;
    bool infinity = true;

    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    int sign_shift() const { return exponent_bits + mantissa_bits; }
    std::uint32_t sign_bit() const { return 1u << sign_shift(); }
    std::uint32_t codes() const { return 2 * sign_bit(); }
    /// The code after that of the largest number.
    std::uint32_t past() const { return infinity ? ((1u << exponent_bits) - 1) << mantissa_bits : sign_bit() - 1; }
    bool is_nan(std::uint32_t code) const {
        const std::uint32_t magnitude = code & (sign_bit() - 1);
        return infinity ? magnitude > past() : magnitude == past();
    }
};
inline constexpr Format f16{Dtype::f16, 5, 10}, bf16{Dtype::bf16, 8, 7}, e4m3{Dtype::e4m3, 4, 3, false},
    e5m2{Dtype::e5m2, 5, 2};

/// The number of a code, as if the codes of infinity and NaN were numbers, too.
inline double number_of(const Format& f, std::uint32_t code) {
    const auto exponent = static_cast<int>(code >> f.mantissa_bits & ((1u << f.exponent_bits) - 1));
    const auto mantissa = static_cast<int>(code & ((1u << f.mantissa_bits) - 1));
    const int hidden = exponent > 0 ? 1 << f.mantissa_bits : 0;
    return (code & f.sign_bit() ? -1 : 1) *
           std::ldexp(hidden + mantissa, std::max(exponent, 1) - f.bias() - f.mantissa_bits);
}

/// The value of a code that is not a NaN.
inline double value_of(const Format& f, std::uint32_t code) {
    const bool infinite = f.infinity && (code & (f.sign_bit() - 1)) == f.past();
    const double infinity = std::numeric_limits<double>::infinity();
    return infinite ? (code & f.sign_bit() ? -infinity : infinity) : number_of(f, code);
}

/// The code nearest to x (not a NaN), ties to even, by integer arithmetic on the bits of x.
inline std::uint32_t nearest(const Format& f, float x, Overflow overflow) {
    const auto bits = bits_of<std::uint32_t>(x);
    const auto field = static_cast<int>(bits >> 23 & 0xff);
    // x = significand x 2^exponent, with a significand below 2^24.
    const std::uint64_t significand = (bits & 0x7fffff) | (field > 0 ? 0x800000u : 0u);
    const int exponent = std::max(field, 1) - 127 - 23;
    // The format's grid around x has steps of 2^step: finer for smaller numbers, until they become subnormal.
    const int step = std::max(std::max(field, 1) - 127, 1 - f.bias()) - f.mantissa_bits;
    const int drop = std::min(step - exponent, 40);
    std::uint64_t steps = significand >> drop;
    const std::uint64_t rest = significand - (steps << drop), half = std::uint64_t{1} << (drop - 1);
    if (rest > half || (rest == half && steps % 2 == 1)) ++steps;
    // Adding the steps to the exponent field carries into it exactly where it should, up to infinity.
    const auto base = static_cast<std::uint64_t>(std::max(step + f.mantissa_bits + f.bias(), 1));
    const std::uint64_t hidden = std::uint64_t{1} << f.mantissa_bits;
    const std::uint64_t code = steps < hidden ? steps : (base << f.mantissa_bits) + (steps - hidden);
    const std::uint32_t most = f.past() - (size_of(f.dtype) == 1 && overflow == Overflow::saturate ? 1 : 0);
    return (bits >> 31 << f.sign_shift()) | static_cast<std::uint32_t>(std::min<std::uint64_t>(code, most));
}

inline std::vector<std::uint32_t> every_code(const Format& f) {
    std::vector<std::uint32_t> out(f.codes());
    for (std::uint32_t k = 0; k < f.codes(); ++k) out[k] = k;
    return out;
}

/// What lies between the magnitudes of two codes that follow each other, and the floats next to that.
struct Middle {
    std::uint32_t code;  ///< the lower one
    float below, at, above;
};
/// All of them, up to the one after the largest number.
inline std::vector<Middle> middles(const Format& f) {
    std::vector<Middle> out;
    for (std::uint32_t k = 0; k < f.past(); ++k) {
        const auto m = static_cast<float>((number_of(f, k) + number_of(f, k + 1)) / 2);
        out.push_back({k, std::nextafter(m, 0.0f), m, std::nextafter(m, std::numeric_limits<float>::infinity())});
    }
    return out;
}

/// Every number of f16 and bf16, also infinity, and the middles of `f` with their neighbours, each with both signs.
inline std::vector<float> probes(const Format& f) {
    std::vector<float> out;
    for (const Format& from : {f16, bf16})
        for (const std::uint32_t code : every_code(from))
            if (!from.is_nan(code)) out.push_back(static_cast<float>(value_of(from, code)));
    for (const Middle& m : middles(f))
        for (const float x : {m.below, m.at, m.above}) out.push_back(x), out.push_back(-x);
    return out;
}

}  // namespace tilescope::testing
