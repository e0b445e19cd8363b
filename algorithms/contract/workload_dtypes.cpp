#include "algorithms/contract/workload_dtypes.hpp"

#include <algorithm>

namespace tilescope {

std::optional<Dtype> workload_dtype_from(std::string_view name) {
    const auto t = dtype_from(name);
    return t && std::find(workload_dtypes.begin(), workload_dtypes.end(), *t) != workload_dtypes.end() ? t
                                                                                                       : std::nullopt;
}

}  // namespace tilescope
