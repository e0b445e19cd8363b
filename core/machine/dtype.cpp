#include <iterator>

#include "core/machine/dtypes.hpp"

namespace tilescope {

static_assert(all_dtypes.size() == std::size(dtype_facts));

std::optional<Dtype> dtype_from(std::string_view name) {
    for (const Dtype t : number_dtypes)
        if (name == name_of(t)) return t;
    return std::nullopt;
}

}  // namespace tilescope
