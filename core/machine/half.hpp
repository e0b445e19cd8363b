// Half precision (IEEE binary16) by arithmetic without branches, so that compilers vectorize loops over it, with or
// without conversion instructions of the processor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tilescope {

struct Half {
    /// The half nearest to x (ties to even), as a float.
    static float rounded(float x) {
        const float m = magnitude(x);
        return with_bits((m < beyond ? bits(m) : bits(m) | exponent) | (bits(x) & sign));
    }

    // A float's exponent bias is 112 more than a half's: a factor of 2^112 converts one to the other, subnormals too.

    static std::uint16_t encoded(float x) {
        const std::uint32_t m = bits(magnitude(x) * 0x1p-112f);
        return static_cast<std::uint16_t>((m >> 13 & 0x7fffu) | (bits(x) & sign) >> 16);
    }
    static float decoded(std::uint16_t h) {
        const float m = with_bits((h & 0x7fffu) << 13) * 0x1p112f;
        return with_bits((m < beyond ? bits(m) : bits(m) | exponent) | (h & 0x8000u) << 16);
    }

  private:
    static constexpr std::uint32_t sign = 0x8000'0000u, exponent = 0x7f80'0000u;
    static constexpr float beyond = 65536;  // the first power of two above all halves: rounding to it gives infinity

    static std::uint32_t bits(float x) {
        std::uint32_t u;
        std::memcpy(&u, &x, sizeof u);
        return u;
    }
    static float with_bits(std::uint32_t u) {
        float x;
        std::memcpy(&x, &u, sizeof x);
        return x;
    }

    /// |x|, rounded to the nearest half as if halves reached up to `beyond`; NaN stays NaN.
    static float magnitude(float x) {
        constexpr std::uint32_t least = 0x3880'0000u, most = 0x4700'0000u;  // of normal halves: 2^-14, 2^15
        const std::uint32_t of_x = bits(x) & exponent, scale = std::min(std::max(of_x, least), most);
        // Adding 2^13 times its scale to |x| rounds away the bits that a half does not have.
        const float large = with_bits(scale + (13u << 23));
        return std::min(with_bits(bits(x) & ~sign) + large - large, beyond);
    }
};

}  // namespace tilescope
