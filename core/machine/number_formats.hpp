// Number formats of 16 and 8 bits, by arithmetic without branches, so that compilers vectorize loops over it, with or
// without conversion instructions of the processor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/machine/conversions.hpp"

namespace tilescope {

inline std::uint32_t bits_of(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float float_of(std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
/// 2^n.
constexpr float power_of_two(int n) {
    float power = 1;
    for (; n > 0; --n) power *= 2;
    for (; n < 0; ++n) power /= 2;
    return power;
}

struct FloatBits {
    static constexpr std::uint32_t sign = 0x8000'0000u, exponent = 0x7f80'0000u;
    static constexpr int mantissa = 23, bias = 127;
};

/// A floating-point format: a sign bit, an exponent and a mantissa in a whole number, the code. With `infinity`, the
/// largest exponent stands for infinity and NaN, as in IEEE 754. Without it, the code whose bits are all ones (but for
/// the sign) is the only NaN.
template <class Unsigned, int exponent_bits, int mantissa_bits, bool infinity>
class Minifloat : FloatBits {
    static constexpr int own_bias = (1 << (exponent_bits - 1)) - 1;
    static constexpr int greatest_exponent = infinity ? own_bias : own_bias + 1;
    static constexpr float step = power_of_two(greatest_exponent - mantissa_bits);  // between the largest numbers
    // What the code after the largest number's would stand for if it were a number: the code of infinity, or of NaN.
    static constexpr float beyond = power_of_two(greatest_exponent + 1) - (infinity ? 0 : step);

    static constexpr std::uint32_t ones = (1u << (exponent_bits + mantissa_bits)) - 1;  // all bits but the sign
    static constexpr std::uint32_t code_beyond = infinity ? ones >> mantissa_bits << mantissa_bits : ones;
    // The NaN that NumPy and processors write in 16 bits, and GPUs in 8.
    static constexpr std::uint32_t not_a_number = sizeof(Unsigned) > 1 ? code_beyond | 1u << (mantissa_bits - 1) : ones;
    static constexpr int shift = mantissa - mantissa_bits, sign_shift = 31 - exponent_bits - mantissa_bits;

  public:
    using Code = Unsigned;
    static constexpr float largest = beyond - step;

    /// The number nearest to x (ties to even), as a float.
    static float rounded(float x, Overflow overflow) {
        const float m = std::min(float_of(bits_of(x) & ~sign) + float_of(summand(x)) - float_of(summand(x)),
                                 overflow == Overflow::saturate ? largest : beyond);  // a NaN stays one
        return float_of((m < beyond ? bits_of(m) : bits_of(m) | exponent) | (bits_of(x) & sign));
    }

    /// The code of the number nearest to x (ties to even).
    static Code encoded(float x, Overflow overflow) {
        const std::uint32_t m = bits_of(x) & ~sign, large = summand(x);
        // |x| in units of its last place. The code is more by 2^mantissa_bits for each exponent above the least.
        const std::uint32_t units = bits_of(float_of(m) + float_of(large)) - large;
        const std::uint32_t code = units + ((large - summand(0)) >> shift);
        const std::uint32_t most = overflow == Overflow::saturate ? code_beyond - 1 : code_beyond;
        return static_cast<Code>((m > exponent ? not_a_number : std::min(code, most)) |
                                 (bits_of(x) & sign) >> sign_shift);
    }

    static float decoded(Code code) {
        // A float's bias is greater: a power of two converts one to the other, subnormal numbers too.
        constexpr float factor = power_of_two(bias - own_bias);
        const float m = float_of((code & ones) << shift) * factor;
        return float_of((m < beyond ? bits_of(m) : bits_of(m) | exponent) | (code & (ones + 1u)) << sign_shift);
    }

  private:
    /// The bits of a power of two that rounds |x| where it is added: the last place of the sum is that of this format
    /// around x. It is 2^shift times the power of two in x, but at least in the least normal number, and at most in the
    /// largest number.
    static std::uint32_t summand(float x) {
        constexpr std::uint32_t least = std::uint32_t{bias + 1 - own_bias} << mantissa,
                                most = std::uint32_t{bias + greatest_exponent} << mantissa;
        return std::min(std::max(bits_of(x) & exponent, least), most) + (std::uint32_t{shift} << mantissa);
    }
};

using Half = Minifloat<std::uint16_t, 5, 10, true>;  ///< binary16 of IEEE 754
using E4m3 = Minifloat<std::uint8_t, 4, 3, false>;   ///< E4M3 of the OCP 8-bit Floating Point Specification 1.0
using E5m2 = Minifloat<std::uint8_t, 5, 2, true>;    ///< E5M2 of the same

/// Whole numbers from -127 to 127, as many below 0 as above. A NaN becomes 0, as in GPUs' conversions (PTX: cvt).
struct Whole8 : private FloatBits {
    using Code = std::int8_t;
    static constexpr float largest = 127;

    static float rounded(float x, Overflow overflow) { return decoded(encoded(x, overflow)); }

    static Code encoded(float x, Overflow) {
        const std::uint32_t m = bits_of(x) & ~sign, limited = std::min(m, bits_of(largest));
        // The last bits of this sum are those of the whole number.
        const float sum = float_of(limited | (bits_of(x) & sign)) + 0x1.8p23f;
        return static_cast<Code>(bits_of(sum) & -std::uint32_t{m <= exponent});
    }

    static float decoded(Code code) { return code; }
};

}  // namespace tilescope
