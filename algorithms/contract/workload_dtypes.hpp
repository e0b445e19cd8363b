// The storage types that a workload can have: programs do not run in 8 bits yet.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "core/machine/dtype.hpp"

namespace tilescope {

inline constexpr auto workload_dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};
/// One of them, by its name; nullopt for any other name.
std::optional<Dtype> workload_dtype_from(std::string_view name);

}  // namespace tilescope
