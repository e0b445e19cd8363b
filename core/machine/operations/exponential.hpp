// e^x as the hardware computes it, in Eigen's vectors.
#pragma once

#include <cmath>

#if defined(__EMSCRIPTEN__) && defined(__SSE2__)
// Here Eigen uses vectors of SSE, which emscripten builds from WebAssembly's. It makes this conversion number by
// number, to match SSE for numbers that fit no int. Exponents always fit, so the vector instruction will do.
#include <emmintrin.h>
#include <wasm_simd128.h>
#define _mm_cvttps_epi32(x) reinterpret_cast<__m128i>(wasm_i32x4_trunc_sat_f32x4(reinterpret_cast<v128_t>(x)))
#endif

#include "core/machine/operations/elements.hpp"

namespace tilescope {

/// e^x with the ends that the hardware has: results below the smallest normal number are 0, overflow is infinity, NaN
/// stays NaN. (Eigen's own clamps its argument, which turns exp(-inf) into 3e-39 and exp(100) into a finite number.)
struct Exp {
    static constexpr float lowest = -87.3365402f, highest = 88.7228317f;

    float operator()(float x) const { return x < lowest ? 0 : std::exp(x); }
    template <class Packet>
    Packet packetOp(const Packet& x) const {
        using namespace Eigen::internal;
        // Not every pexp reaches to `highest`. Above 88, e^x is e^(x - c) e^c, with a c that makes x - c exact.
        const Packet high = pcmp_lt(pset1<Packet>(88.0f), x);
        const Packet c = pselect(high, pset1<Packet>(0.693359375f), pset1<Packet>(0.0f));
        const Packet e_to_c = pselect(high, pset1<Packet>(2.00042443f), pset1<Packet>(1.0f));
        const Packet y = pandnot(pmul(pexp(psub(x, c)), e_to_c), pcmp_lt(x, pset1<Packet>(lowest)));
        const Packet z = pselect(pcmp_lt(pset1<Packet>(highest), x), pset1<Packet>(infinity), y);
        return pselect(pcmp_eq(x, x), z, x);
    }
};

}  // namespace tilescope

template <>
struct Eigen::internal::functor_traits<tilescope::Exp> {
    enum { Cost = functor_traits<scalar_exp_op<float>>::Cost, PacketAccess = packet_traits<float>::HasExp };
};
