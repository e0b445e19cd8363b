// Storage types: how many bytes an element takes in HBM, and what storing a number in it loses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/machine/units.hpp"

namespace tilescope {

/// Types of numbers, and of tensors that find or choose numbers: page numbers are i32, masks are u8.
enum class Dtype : std::uint8_t { f32, f16, bf16, i32, u8 };

constexpr Bytes size_of(Dtype t) { return t == Dtype::f32 || t == Dtype::i32 ? 4 : t == Dtype::u8 ? 1 : 2; }

/// "f32", "f16", "bf16", "i32" or "u8".
const char* name_of(Dtype t);
/// f32, f16 or bf16, by its name; nullopt for any other name.
std::optional<Dtype> dtype_from(std::string_view name);

/// Rounds n floats to the nearest value of `t` (ties to even), in place.
void round_to(Dtype t, float* x, Index n);
/// Converts n floats to the storage format (rounding to nearest even).
void encode(Dtype t, const float* from, std::byte* to, Index n);
/// Converts n stored elements to floats (exact).
void decode(Dtype t, const std::byte* from, float* to, Index n);

}  // namespace tilescope
