// Libraries name fields in their errors; a user who typed flags has to read the names of flags.
#pragma once

#include <algorithm>

#include "core/machine/error.hpp"

namespace tilescope::lab {

/// Returns f(). Its BadValue becomes a UsageError that names the flag: --kv-heads for the field kv_heads.
template <class F>
auto in_flags(F&& f) {
    try {
        return f();
    } catch (const BadValue& e) {
        std::string flag = "--" + e.field;
        std::replace(flag.begin(), flag.end(), '_', '-');
        throw UsageError(e.worded(flag));
    }
}

}  // namespace tilescope::lab
