// How tensor cores add products of 8 bits, where that is not f32.
#pragma once

#include "core/machine/dtype.hpp"
#include "core/machine/units.hpp"

namespace tilescope {

/// c += a b as Hopper's wgmma adds products of e4m3 or e5m2, whose sums have fewer bits than f32. c: m x n, a: m x k,
/// b: k x n, all row by row, a and b of values of `type`. Of 32 products of consecutive k and of c, each is cut towards
/// 0 to `bits` bits behind the greatest exponent among them, where a product's exponent is the sum of its factors', a
/// subnormal factor has that of the least normal number, and zeros have none; the sum is cut to `bits` bits behind its
/// own leading one. With 13 bits that is what an H200 computes, bit for bit: bench/float8_accumulation.cu. Values that
/// are not finite are added in f32. `bits`: 1 to 16.
void add_products(float* c, const float* a, const float* b, Index m, Index n, Index k, Dtype type, int bits);

}  // namespace tilescope
