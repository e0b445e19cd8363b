// The conversions to 8 bits beside those of CUDA, whose functions for the host round as the GPU's instructions do.
#if __has_include(<cuda_fp8.h>)

#include <cuda_fp8.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "core/machine/conversions.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/formats.hpp"

using namespace tilescope;
using namespace tilescope::testing;

TEST_CASE("8-bit numbers are CUDA's", "[dtype]") {
    const auto [f, type] = GENERATE(table<Format, __nv_fp8_interpretation_t>({{e4m3, __NV_E4M3}, {e5m2, __NV_E5M2}}));
    for (const auto& [overflow, saturation] :
         {std::pair{Overflow::saturate, __NV_SATFINITE}, {Overflow::not_finite, __NV_NOSAT}}) {
        const std::vector<float> x = probes(f);
        std::vector<std::uint8_t> codes(x.size());
        encode(f.dtype, x.data(), reinterpret_cast<std::byte*>(codes.data()), static_cast<Index>(x.size()), overflow);
        int different = 0;
        for (std::size_t k = 0; k < x.size(); ++k)
            different += codes[k] != __nv_cvt_float_to_fp8(x[k], saturation, type);
        CHECK(different == 0);
    }
    for (const std::uint32_t code : every_code(f)) {
        const auto stored = static_cast<std::byte>(code);
        float value = 0;
        decode(f.dtype, &stored, &value, 1);
        const std::uint32_t as_f16 = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), type).x;
        CAPTURE(code);
        CHECK((f16.is_nan(as_f16) ? std::isnan(value) : value == value_of(f16, as_f16)));
    }
}

#else

#include "tests/support/catch.hpp"

TEST_CASE("8-bit numbers are CUDA's", "[dtype]") { WARN("compiled without CUDA's cuda_fp8.h: nothing was compared"); }

#endif
