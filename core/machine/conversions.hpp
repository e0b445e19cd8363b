// Numbers in a storage type: what storing a number in it loses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/machine/dtype.hpp"

namespace tilescope {

/// What numbers beyond the largest of e4m3 and e5m2, and infinity, become there: the largest number, as tensor cores
/// and their conversions have it (PTX: cvt.rn.satfinite); or infinity, or a NaN in e4m3, which has none. (The OCP 8-bit
/// Floating Point Specification 1.0 knows both.) i8 always saturates; types of 16 bits never do, and have infinity.
enum class Overflow : std::uint8_t { saturate, not_finite };

/// Rounds n floats to the nearest value of `t` (ties to even), in place. A NaN stays one, but for i8, where it becomes
/// 0. Tensors of i32 and u8 hold nothing to round.
void round_to(Dtype t, float* x, Index n, Overflow overflow = Overflow::saturate);
/// Converts n floats to the storage format, rounding as round_to() does.
void encode(Dtype t, const float* from, std::byte* to, Index n, Overflow overflow = Overflow::saturate);
/// Converts n stored elements to floats (exact).
void decode(Dtype t, const std::byte* from, float* to, Index n);

}  // namespace tilescope
