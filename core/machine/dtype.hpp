// Storage types: how many bytes an element takes in HBM.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/machine/units.hpp"

namespace tilescope {

/// Types of numbers, and of tensors that find or choose numbers: page numbers are i32, masks are u8. Numbers of i8 are
/// whole, from -127 to 127.
enum class Dtype : std::uint8_t { f32, f16, bf16, i32, u8, e4m3, e5m2, i8 };

struct DtypeFacts {
    const char* name;
    Bytes bytes;    ///< of an element
    float largest;  ///< finite number of the type that a float can hold, too
};
inline constexpr DtypeFacts dtype_facts[] = {{"f32", 4, 0x1.fffffep127f}, {"f16", 2, 65504}, {"bf16", 2, 0x1.fep127f},
                                             {"i32", 4, 0x1.fffffep30f},  {"u8", 1, 255},    {"e4m3", 1, 448},
                                             {"e5m2", 1, 57344},          {"i8", 1, 127}};
constexpr Bytes size_of(Dtype t) { return dtype_facts[static_cast<std::size_t>(t)].bytes; }
constexpr const char* name_of(Dtype t) { return dtype_facts[static_cast<std::size_t>(t)].name; }
constexpr float largest(Dtype t) { return dtype_facts[static_cast<std::size_t>(t)].largest; }

}  // namespace tilescope
