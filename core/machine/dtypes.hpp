// Lists of storage types, and types by their names.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "core/machine/dtype.hpp"

namespace tilescope {

inline constexpr auto all_dtypes = {Dtype::f32, Dtype::f16,  Dtype::bf16, Dtype::i32,
                                    Dtype::u8,  Dtype::e4m3, Dtype::e5m2, Dtype::i8};
inline constexpr auto number_dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::e4m3, Dtype::e5m2, Dtype::i8};

/// A type of numbers, by its name; nullopt for any other name.
std::optional<Dtype> dtype_from(std::string_view name);

}  // namespace tilescope
